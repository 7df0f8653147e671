//! The chain of one person: which contact method is used when.

use tidewatch_domain::units::MINUTE_NS;

use super::wait::Wait;

/// A step of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainStep {
    /// Id of the contact method.
    pub method: i64,
    /// Minutes after the page has reached the person.
    pub delay_minutes: i64,
}

/// Where a page is in the chain of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainProgress {
    /// Steps with this delay or a smaller one are over; -1: none.
    pub passed_minutes: i64,
    /// Until the next step.
    pub wait: Wait,
}

impl ChainProgress {
    /// A page that reaches the person now.
    pub fn begin(now_ns: i64) -> ChainProgress {
        ChainProgress { passed_minutes: -1, wait: Wait::begin(now_ns, 0) }
    }
}

/// Contact methods that are due, and the progress afterwards; `None`: the chain is over.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChainRun {
    /// Contact methods to use now.
    pub methods: Vec<i64>,
    /// The person has no usable contact method: the address of the account is used.
    pub falls_back: bool,
    /// Next progress of the chain; `None`: it is over.
    pub next: Option<ChainProgress>,
}

/// Advances a chain by at most the steps of one delay. `usable`: the enabled and verified methods of the person; they
/// are all used at once if the chain names none of them.
pub fn advance(chain: &[ChainStep], usable: &[i64], progress: ChainProgress, now_ns: i64) -> ChainRun {
    let wait = progress.wait.bounded(now_ns);
    if !wait.is_over(now_ns) {
        return ChainRun { next: Some(ChainProgress { wait, ..progress }), ..ChainRun::default() };
    }
    let steps: Vec<ChainStep> = chain.iter().copied().filter(|step| usable.contains(&step.method)).collect();
    let is_first = progress.passed_minutes < 0;
    if steps.is_empty() {
        let methods = if is_first { usable.to_vec() } else { Vec::new() };
        return ChainRun { falls_back: is_first && methods.is_empty(), methods, next: None };
    }
    let delays = |after: i64| steps.iter().map(|step| step.delay_minutes).filter(move |delay| *delay > after).min();
    let Some(due) = delays(progress.passed_minutes) else { return ChainRun::default() };
    if is_first && due > 0 {
        let next = ChainProgress { passed_minutes: 0, wait: Wait::begin(now_ns, due * MINUTE_NS) };
        return ChainRun { next: Some(next), ..ChainRun::default() };
    }
    let methods = steps.iter().filter(|step| step.delay_minutes == due).map(|step| step.method).collect();
    let next = delays(due)
        .map(|later| ChainProgress { passed_minutes: due, wait: Wait::begin(now_ns, (later - due) * MINUTE_NS) });
    ChainRun { methods, falls_back: false, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(steps: &[(i64, i64)]) -> Vec<ChainStep> {
        steps.iter().map(|&(method, delay_minutes)| ChainStep { method, delay_minutes }).collect()
    }

    /// Contact methods by minute; method 0 is the address of the account.
    fn runs(steps: &[(i64, i64)], usable: &[i64], minutes: impl IntoIterator<Item = i64>) -> Vec<(i64, i64)> {
        let steps = chain(steps);
        let mut progress = Some(ChainProgress::begin(0));
        let mut found = Vec::new();
        for minute in minutes {
            let Some(now) = progress else { break };
            let run = advance(&steps, usable, now, minute * MINUTE_NS);
            found.extend(run.methods.iter().map(|method| (minute, *method)));
            found.extend(run.falls_back.then_some((minute, 0)));
            progress = run.next;
        }
        found
    }

    #[test]
    fn methods_are_used_after_their_delays() {
        for (steps, usable, expected) in [
            (vec![], vec![], vec![(0, 0)]),
            (vec![], vec![1, 2], vec![(0, 1), (0, 2)]),
            (vec![(1, 0), (2, 2), (3, 5)], vec![1, 2, 3], vec![(0, 1), (2, 2), (5, 3)]),
            (vec![(1, 0), (2, 0), (3, 5)], vec![1, 2, 3], vec![(0, 1), (0, 2), (5, 3)]),
            (vec![(3, 5), (1, 0)], vec![1, 3], vec![(0, 1), (5, 3)]),
            // One that is disabled or not verified is left out; with none left, all usable ones are used.
            (vec![(1, 0), (2, 2)], vec![2], vec![(2, 2)]),
            (vec![(1, 0)], vec![2, 3], vec![(0, 2), (0, 3)]),
            (vec![(1, 3)], vec![], vec![(0, 0)]),
            (vec![(1, 3)], vec![1], vec![(3, 1)]),
            // A method may be used again.
            (vec![(1, 0), (1, 10)], vec![1], vec![(0, 1), (10, 1)]),
        ] {
            assert_eq!(runs(&steps, &usable, 0..200), expected, "{steps:?} {usable:?}");
        }
    }

    #[test]
    fn a_jump_of_the_clock_uses_one_delay_early() {
        let steps = [(1, 0), (2, 5), (3, 10), (4, 15)];
        assert_eq!(runs(&steps, &[1, 2, 3, 4], [0, 61, 62, 66, 71]), [(0, 1), (61, 2), (66, 3), (71, 4)]);
        let mut progress = Some(ChainProgress::begin(100 * MINUTE_NS));
        let mut found = Vec::new();
        for minute in [100, 41, 45, 46, 47] {
            let run = advance(&chain(&steps), &[1, 2, 3, 4], progress.expect("it goes on"), minute * MINUTE_NS);
            found.extend(run.methods.iter().map(|method| (minute, *method)));
            progress = run.next;
        }
        assert_eq!(found, [(100, 1), (46, 2)]);
    }
}
