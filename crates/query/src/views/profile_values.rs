//! Values of profiles that count. DECISIONS 38.

use serde::Serialize;
use tidewatch_domain::rules::profile_temporality::Temporality;
use utoipa::ToSchema;

/// Meaning of the values of successive profiles of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProfileTemporality {
    /// Each profile has the amount of its own time; amounts are added up.
    Delta,
    /// Each profile has the amount since the start of its process; differences per process are added up.
    Cumulative,
    /// A state; the latest profile of each instance counts.
    Gauge,
}

impl From<Temporality> for ProfileTemporality {
    fn from(temporality: Temporality) -> ProfileTemporality {
        match temporality {
            Temporality::Delta => ProfileTemporality::Delta,
            Temporality::Cumulative => ProfileTemporality::Cumulative,
            Temporality::Gauge => ProfileTemporality::Gauge,
        }
    }
}

/// First profiles of processes, of cumulative types, that do not say which time they cover. They are the base of
/// differences, and do not count.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FirstProfiles {
    /// Number of such profiles in the range.
    pub profiles: u64,
    /// Sum of their values.
    pub value: f64,
    /// Whether the answer shows their values, because no profile of the range differs from its first one.
    pub are_shown: bool,
}
