//! Gaps, as the catalog lists them until their day is kept no longer.

use crate::part::PartFacts;
use tidewatch_store::Gap;

/// The gap that a part leaves which is no longer listed.
pub fn gap_of(facts: &PartFacts) -> Gap {
    let PartFacts { id, table, day, rows, time_min, time_max, project_min, project_max, .. } = *facts;
    Gap { id, table, day, rows, time_min, time_max, project_min, project_max }
}
