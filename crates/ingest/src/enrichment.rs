//! Inputs of the rules besides the request: prices of AI models, and symbols of the programs that send.

use std::cell::Cell;
use std::sync::Arc;

use tidewatch_domain::project::Enrichment;
use tidewatch_domain::rules::exception::{AsReceived, Symbolicate};
use uuid::Uuid;

use super::prices::PriceTable;
use super::record::Header;
use crate::symbols::Symbols;
use crate::symbols::resolve::Symbolicator;
use tidewatch_limits as limits;

/// Prices and symbols for the rules. Cheap to clone.
#[derive(Clone)]
pub struct EnrichmentSource {
    /// The price table that costs are computed with.
    pub prices: PriceTable,
    /// `None`: stack traces stay raw.
    pub symbols: Option<Arc<Symbols>>,
}

impl EnrichmentSource {
    /// Symbolicates the stack traces of one request.
    pub fn symbolicator<'k>(&'k self, header: &Header) -> Option<Symbolicator<'k>> {
        let project = Uuid::from_bytes(header.project.0);
        let left = Cell::new(limits::RESOLVE_REQUEST_MAX);
        self.symbols.as_deref().map(|symbols| Symbolicator { symbols, project, now_ns: header.received_ns, left })
    }

    /// The inputs for one request, with the result of [`EnrichmentSource::symbolicator`].
    pub fn with_symbols<'k>(&self, symbolicator: &'k Option<Symbolicator<'k>>) -> Enrichment<'k> {
        let symbols: &dyn Symbolicate = match symbolicator {
            Some(symbolicator) => symbolicator,
            None => &AsReceived,
        };
        Enrichment { prices: self.prices.prices, symbols }
    }
}
