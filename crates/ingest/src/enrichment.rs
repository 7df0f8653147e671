//! Inputs of the rules besides the request: prices of AI models, symbols of the programs that send, and the rule of
//! grouping.

use std::cell::Cell;
use std::sync::Arc;

use tidewatch_accounts::Projects;
use tidewatch_domain::project::Enrichment;
use tidewatch_domain::rules::exception::{AsReceived, Symbolicate};
use tidewatch_domain::rules::group_versions::GroupVersions;
use tidewatch_domain::rules::grouping_rules::GroupingRules;
use uuid::Uuid;

use super::prices::PriceTable;
use super::record::Header;
use crate::symbols::Symbols;
use crate::symbols::resolve::Symbolicator;
use tidewatch_limits as limits;

/// Prices, symbols and versions of grouping for the rules. Cheap to clone.
#[derive(Clone)]
pub struct EnrichmentSource {
    /// The price table that costs are computed with.
    pub prices: PriceTable,
    /// `None`: stack traces stay raw.
    pub symbols: Option<Arc<Symbols>>,
    /// Rules that group exceptions.
    pub grouping: GroupingSource,
}

/// Rules that group exceptions: the versions of the program, and those of projects.
#[derive(Clone)]
pub struct GroupingSource {
    /// Versions of the rule that groups exceptions.
    pub versions: GroupVersions,
    /// Projects with their grouping rules; `None`: without rules.
    pub projects: Option<Projects>,
}

impl GroupingSource {
    /// The versions of this program, without rules of projects.
    pub const BUILT_IN: GroupingSource = GroupingSource { versions: GroupVersions::BUILT_IN, projects: None };

    /// The rules of a project as they are now. A replay uses the rules of its time, like symbols.
    pub fn rules(&self, project: u32) -> Arc<GroupingRules> {
        let found = self.projects.as_ref().and_then(|projects| projects.project_by_number(project));
        found.map_or_else(Arc::default, |project| project.grouping_rules.clone())
    }
}

impl EnrichmentSource {
    /// Symbolicates the stack traces of one request.
    pub fn symbolicator<'k>(&'k self, header: &Header) -> Option<Symbolicator<'k>> {
        let project = Uuid::from_bytes(header.project.0);
        let left = Cell::new(limits::RESOLVE_REQUEST_MAX);
        self.symbols.as_deref().map(|symbols| Symbolicator { symbols, project, now_ns: header.received_ns, left })
    }

    /// The inputs for one request, with the results of [`EnrichmentSource::symbolicator`] and [`GroupingSource::rules`].
    pub fn with_symbols<'k>(
        &self,
        symbolicator: &'k Option<Symbolicator<'k>>,
        grouping_rules: &'k GroupingRules,
    ) -> Enrichment<'k> {
        let symbols: &dyn Symbolicate = match symbolicator {
            Some(symbolicator) => symbolicator,
            None => &AsReceived,
        };
        Enrichment { prices: self.prices.prices, symbols, grouping: self.grouping.versions, grouping_rules }
    }
}
