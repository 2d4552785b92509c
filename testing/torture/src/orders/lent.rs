//! Orders about lent results, which clients keep.

use crate::answer::{Answer, done};
use crate::state::State;
use obvia::{Agile, code};
use std::cell::RefCell;

fn is_lent(lent: &obvia::Lent<i32>, first: i32, count: u32) -> bool {
    lent.to_vec() == (0..count as i32).map(|at| first + at).collect::<Vec<_>>()
}

/// Keeps lent results while further calls are made, and drops the results in an order that differs
/// from the order of the calls.
pub(super) fn keep_lent(state: &State, results: i32) -> Answer {
    let counter = state.counter()?;
    // Some results are too long for a slot.
    let count = |result: i32| 40 * (result as u32 % 3) + 1;
    let mut lent = Vec::new();
    for result in 0..results {
        lent.push((result, counter.Lend(result, count(result))?));
        counter.Nothing()?;
    }
    while !lent.is_empty() {
        if let Some((result, _)) = lent.iter().find(|(result, lent)| !is_lent(lent, *result, count(*result))) {
            return Err(obvia::Error::new(code::E_UNEXPECTED, format!("result {result} is no longer what it was")));
        }
        drop(lent.swap_remove(lent.len() / 2));
        counter.Nothing()?;
        drop(counter.Lend(-1, 64)?);
    }
    done(())
}

thread_local! {
    /// Lent results that are dropped at the end of the thread, before the thread's channels or
    /// after them.
    static TO_THE_END: RefCell<Vec<obvia::Lent<i32>>> = const { RefCell::new(Vec::new()) };
}

/// Starts threads that end while they hold lent results. Some results belong to a connection that
/// is not the thread's last used connection.
pub(super) fn keep_lent_to_end(state: &State) -> Answer {
    for keeps_first in [true, false] {
        let factory = Agile::new(state.factory()?)?;
        let thread = std::thread::spawn(move || -> obvia::Result<bool> {
            if keeps_first {
                TO_THE_END.with(|_| ());
            }
            let counter = factory.get().Make()?;
            for first in [7, 8] {
                let lent = counter.Lend(first, 3)?;
                TO_THE_END.with_borrow_mut(|kept| kept.push(lent));
            }
            Ok(TO_THE_END.with_borrow(|kept| is_lent(&kept[0], 7, 3) && is_lent(&kept[1], 8, 3)))
        });
        let fine = thread.join().map_err(|_| code::E_UNEXPECTED)??;
        if !fine {
            return Err(code::E_UNEXPECTED.into());
        }
    }
    done(())
}
