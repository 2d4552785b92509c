//! The run, which measures all cases in turn, round after round, so that drift of the machine
//! affects all cases alike.

use crate::case::CALLS_MIN;
use crate::{Case, Error, Histogram, Label, Placement, machine};
use std::time::Duration;

/// The extent of a run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of rounds. In each round, every case makes one batch and some stamped calls.
    pub rounds: u32,
    /// The number of calls in a batch. Slow cases make fewer calls: see `batch_time`.
    pub batch: u32,
    /// The approximate maximum time of a batch.
    pub batch_time: Duration,
    /// The processors of the two sides. Without a placement, the system chooses them.
    pub placement: Option<Placement>,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// The number of completed rounds.
    pub round: u32,
    /// The number of all rounds.
    pub rounds: u32,
    /// The next case.
    pub next: &'a Label,
}

/// The results of one case.
#[derive(Debug)]
pub struct Measured {
    /// The case's identity.
    pub label: Label,
    /// The nanoseconds per call of each batch.
    pub batches: Vec<f64>,
    /// The times of the stamped calls.
    pub stamped: Histogram,
    /// The reason why the case was abandoned; `None` for a case that was not. The results of an
    /// abandoned case are invalid.
    pub failure: Option<Error>,
}

struct Turn<'a> {
    case: &'a mut dyn Case,
    calls: u32,
    measured: Measured,
}

/// Measures all cases on the client's processor. A failed case is abandoned; the others continue.
pub fn run(
    cases: &mut [Box<dyn Case>],
    plan: &Plan,
    mut progress: impl FnMut(Progress<'_>),
) -> Result<Vec<Measured>, Error> {
    if let Some(placement) = plan.placement {
        machine::pin(placement.client)?;
    }
    let mut turns = Vec::with_capacity(cases.len());
    for case in cases {
        let measured = Measured {
            label: case.label().clone(),
            batches: Vec::with_capacity(plan.rounds as usize),
            stamped: Histogram::new(),
            failure: None,
        };
        turns.push(Turn { case: case.as_mut(), calls: 0, measured });
    }
    // All cases are suspended before any case runs, because a spinning server takes a processor
    // from the other cases.
    for turn in &mut turns {
        turn.attempt(|turn| turn.case.suspend());
    }
    for round in 0..plan.rounds {
        for turn in turns.iter_mut().filter(|turn| turn.case.is_due(round)) {
            progress(Progress { round, rounds: plan.rounds, next: &turn.measured.label });
            turn.attempt(|turn| turn.take(plan));
        }
    }
    Ok(turns.into_iter().map(|turn| turn.measured).collect())
}

impl Turn<'_> {
    fn attempt(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) {
        if self.measured.failure.is_none() {
            self.measured.failure = work(self).err();
        }
    }

    fn take(&mut self, plan: &Plan) -> Result<(), Error> {
        self.case.resume()?;
        self.warm_up(plan)?;
        let took = self.case.batch(self.calls)?;
        self.measured.batches.push(took.as_nanos() as f64 / f64::from(self.calls));
        self.case.stamped((self.calls / 4).max(CALLS_MIN), &mut self.measured.stamped)?;
        self.case.verify()?;
        self.case.suspend()
    }

    /// Makes calls that are not measured, to wake the server and to warm caches and pages. The
    /// first warm-up also determines the time of a call, and thereby the number of calls in a
    /// batch.
    fn warm_up(&mut self, plan: &Plan) -> Result<(), Error> {
        if self.calls > 0 {
            return self.case.warm_up((self.calls / 10).max(2));
        }
        let fewest = self.case.calls_min();
        self.case.warm_up(fewest)?;
        let mut calls = fewest;
        loop {
            let took = self.case.batch(calls)?;
            if took >= plan.batch_time / 4 || calls >= plan.batch {
                let fitting = plan.batch_time.as_nanos() * u128::from(calls) / took.as_nanos().max(1);
                let fitting = u32::try_from(fitting).unwrap_or(u32::MAX);
                self.calls = fitting.clamp(fewest, plan.batch.max(fewest));
                return Ok(());
            }
            calls *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Path, Wait};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A case that records all actions, and fails from some round on.
    struct Noted {
        label: Label,
        sleep: Duration,
        fails_after: u32,
        notes: Rc<RefCell<Vec<String>>>,
    }

    impl Noted {
        fn note(&self, what: &str) {
            let note = format!("{} {what}", self.label.case);
            self.notes.borrow_mut().push(note);
        }
    }

    impl Case for Noted {
        fn label(&self) -> &Label {
            &self.label
        }

        fn batch(&mut self, calls: u32) -> Result<Duration, Error> {
            let before = std::time::Instant::now();
            std::thread::sleep(self.sleep * calls);
            Ok(before.elapsed())
        }

        fn stamped(&mut self, calls: u32, into: &mut Histogram) -> Result<(), Error> {
            (0..calls).for_each(|_| into.record(self.sleep));
            Ok(())
        }

        fn verify(&mut self) -> Result<(), Error> {
            self.note("verify");
            self.fails_after = self.fails_after.saturating_sub(1);
            if self.fails_after > 0 {
                return Ok(());
            }
            Err(Error::Failed { message: "as asked".to_owned() })
        }

        fn resume(&mut self) -> Result<(), Error> {
            self.note("resume");
            Ok(())
        }

        fn suspend(&mut self) -> Result<(), Error> {
            self.note("rest");
            Ok(())
        }
    }

    fn noted(case: &'static str, fails_after: u32, notes: &Rc<RefCell<Vec<String>>>) -> Box<dyn Case> {
        Box::new(Noted {
            label: Label { case, bytes: 0, at_once: 1, path: Path::Unix, wait: Wait::Block },
            sleep: Duration::from_micros(100),
            fails_after,
            notes: notes.clone(),
        })
    }

    #[test]
    fn cases_run_in_turn_and_a_failure_stops_only_its_case() {
        let notes = Rc::default();
        let mut cases = [noted("a", 9, &notes), noted("b", 2, &notes)];
        let plan = Plan {
            rounds: 3,
            batch: 1000,
            batch_time: Duration::from_millis(2),
            placement: Some(Placement::first_two().unwrap()),
        };
        let measured = run(&mut cases, &plan, |_| ()).unwrap();
        let expected = "a rest,b rest,\
            a resume,a verify,a rest,b resume,b verify,b rest,\
            a resume,a verify,a rest,b resume,b verify,\
            a resume,a verify,a rest";
        assert_eq!(notes.borrow().join(","), expected);
        assert!(measured[0].failure.is_none() && measured[1].failure.is_some());
        assert_eq!(measured[0].batches.len(), 3);
        assert!(measured[0].batches.iter().all(|took| *took >= 100_000.0));
        // In 2 ms there are at most 20 calls that take over 0.1 ms each. A round stamps a quarter
        // of the calls, at least 4.
        assert!((12..=15).contains(&measured[0].stamped.total()));
    }
}
