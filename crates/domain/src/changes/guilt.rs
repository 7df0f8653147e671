//! Which of several subjects that got worse at one time is the cause, and which suffer from it.

/// Part of a subject's change that is its own when it is guilty.
const OWN: f64 = 0.5;
/// Part of a subject's change that a callee explains when the cause is looked for there.
const EXPLAINED: f64 = 0.4;

/// Worsening of a subject, and the parts that its callees pass on.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Added {
    /// Change of the mean duration or of the failed share of a request; above 0 when worse.
    pub change: f64,
    /// Other subjects that it calls, by index, and the part of the change that they pass on.
    pub callees: Vec<(usize, f64)>,
    /// A subject that calls this one more often since it got worse, by index: it is the cause, not this one.
    pub pressed_by: Option<usize>,
}

/// For each subject the index of the guilty one: its own, or that of the callee that explains it, step by step.
pub fn guilty(subjects: &[Added]) -> Vec<usize> {
    (0..subjects.len()).map(|start| walk(subjects, start)).collect()
}

fn walk(subjects: &[Added], start: usize) -> usize {
    let mut visited = vec![start];
    let mut at = start;
    loop {
        let subject = &subjects[at];
        if let Some(caller) = subject.pressed_by.filter(|caller| !visited.contains(caller)) {
            at = caller;
            visited.push(at);
            continue;
        }
        let passed_on = |(_, part): &(usize, f64)| part.max(0.0);
        // A callee that the subject presses is slow because of it.
        let is_pressed = |callee: usize| subjects[callee].pressed_by == Some(at);
        let passed_on = |callee: &(usize, f64)| if is_pressed(callee.0) { 0.0 } else { passed_on(callee) };
        let own = subject.change - subject.callees.iter().map(passed_on).sum::<f64>();
        if subject.change <= 0.0 || own >= OWN * subject.change {
            return at;
        }
        let unvisited = subject.callees.iter().filter(|(callee, _)| !visited.contains(callee));
        let most = unvisited.max_by(|one, other| passed_on(one).total_cmp(&passed_on(other)));
        match most {
            Some(callee) if passed_on(callee) >= EXPLAINED * subject.change => {
                at = callee.0;
                visited.push(at);
            }
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(change: f64, callees: &[(usize, f64)]) -> Added {
        Added { change, callees: callees.to_vec(), pressed_by: None }
    }

    // The callee that explains most of a change is guilty, also over several steps; without one the subject itself is.
    #[test]
    fn the_deepest_subject_that_explains_a_change_is_guilty() {
        for (subjects, expected) in [
            (vec![added(800.0, &[])], vec![0]),
            (vec![added(800.0, &[(1, 780.0)]), added(780.0, &[])], vec![1, 1]),
            (vec![added(800.0, &[(1, 790.0)]), added(790.0, &[(2, 780.0)]), added(390.0, &[])], vec![2, 2, 2]),
            // A callee that hardly changed.
            (vec![added(800.0, &[(1, 100.0)]), added(50.0, &[])], vec![0, 1]),
            // Two callees; the greater part decides.
            (vec![added(900.0, &[(1, 300.0), (2, 500.0)]), added(300.0, &[]), added(500.0, &[])], vec![2, 1, 2]),
            // A callee that got faster explains nothing.
            (vec![added(800.0, &[(1, -100.0)]), added(-100.0, &[])], vec![0, 1]),
            // A caller that multiplies its calls is the cause of what its callee takes.
            (vec![added(800.0, &[(1, 790.0)]), Added { pressed_by: Some(0), ..added(150.0, &[]) }], vec![0, 0]),
            // Calls in a circle end.
            (vec![added(800.0, &[(1, 800.0)]), added(800.0, &[(0, 800.0)])], vec![1, 0]),
        ] {
            assert_eq!(guilty(&subjects), expected, "{subjects:?}");
        }
    }
}
