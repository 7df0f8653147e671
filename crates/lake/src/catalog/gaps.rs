//! Gaps, which the catalog lists until the retention of their day ends.

use crate::part::PartFacts;
use tidewatch_store::Gap;

/// The gap that the removal of a part leaves.
pub fn gap_of(facts: &PartFacts) -> Gap {
    let PartFacts { id, table, day, rows, time_min, time_max, project_min, project_max, .. } = *facts;
    Gap { id, table, day, rows, time_min, time_max, project_min, project_max }
}
