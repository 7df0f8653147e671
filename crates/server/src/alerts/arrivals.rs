//! The queue of arrivals of the pipeline, as the rules of alerting take from it.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use tidewatch_alerts::rules::evaluation::arrivals::Arrived;
use tidewatch_alerts::rules::worker::ArrivalQueue;
use tidewatch_ingest::rule_arrivals::{ProjectArrivals, RuleArrivals};

/// The queue that the pipeline fills.
pub struct StoredArrivals(pub Arc<RuleArrivals>);

impl ArrivalQueue for StoredArrivals {
    fn arrived(&self) -> impl Future<Output = ()> + Send {
        self.0.arrived()
    }

    fn take(&self) -> (BTreeMap<u32, Arrived>, bool) {
        let (arrivals, is_complete) = self.0.take();
        (arrivals.into_iter().map(|(project, arrivals)| (project, arrived(arrivals))).collect(), is_complete)
    }

    fn put_back(&self, arrived: BTreeMap<u32, Arrived>) {
        self.0.put_back(arrived.into_iter().map(|(project, arrived)| (project, arrivals(arrived))).collect());
    }
}

fn arrived(arrivals: ProjectArrivals) -> Arrived {
    Arrived {
        issues: arrivals.issues.into_iter().collect(),
        ai_rows: arrivals.ai_rows.into_iter().map(u128::to_ne_bytes).collect(),
        ai_times: arrivals.ai_times,
    }
}

fn arrivals(arrived: Arrived) -> ProjectArrivals {
    ProjectArrivals {
        issues: arrived.issues.into_iter().collect(),
        ai_rows: arrived.ai_rows.into_iter().map(u128::from_ne_bytes).collect(),
        ai_times: arrived.ai_times,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_back_is_what_was_taken() {
        let mut taken = ProjectArrivals { ai_times: Some((20, 30)), ..ProjectArrivals::default() };
        taken.issues.extend([7, 8]);
        taken.ai_rows.extend([3, u128::MAX - 1]);
        for taken in [ProjectArrivals::default(), taken] {
            assert_eq!(arrivals(arrived(taken.clone())), taken);
        }
    }
}
