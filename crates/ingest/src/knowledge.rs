//! What the rules are told besides the request: prices of AI models, and symbols of the programs that send.

use std::cell::Cell;
use std::sync::Arc;

use tidewatch_domain::project::Enrichment;
use tidewatch_domain::rules::exception::{AsReceived, Symbolicate};
use uuid::Uuid;

use super::prices::PriceTable;
use super::record::Header;
use crate::symbols::Symbols;
use crate::symbols::resolve::Stacks;
use tidewatch_limits as limits;

/// Cheap to copy.
#[derive(Clone)]
pub struct Knowledge {
    pub prices: PriceTable,
    /// `None`: stack traces stay as they are.
    pub symbols: Option<Arc<Symbols>>,
}

impl Knowledge {
    /// For the stack traces of one request.
    pub fn stacks<'k>(&'k self, header: &Header) -> Option<Stacks<'k>> {
        let project = Uuid::from_bytes(header.project.0);
        let left = Cell::new(limits::RESOLVE_REQUEST_MAX);
        self.symbols.as_deref().map(|symbols| Stacks { symbols, project, now_ns: header.received_ns, left })
    }

    pub fn known<'k>(&self, stacks: &'k Option<Stacks<'k>>) -> Enrichment<'k> {
        let symbols: &dyn Symbolicate = match stacks {
            Some(stacks) => stacks,
            None => &AsReceived,
        };
        Enrichment { prices: self.prices.prices, symbols }
    }
}
