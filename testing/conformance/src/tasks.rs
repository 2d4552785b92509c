//! The tasks of other processes, for which a statement starts the test program again.

use crate::process::{PATIENCE, PATIENCE_MIN, TASK, Task};
use crate::{Fixture, Run};

/// Carries out the task for which this process was started, if any.
///
/// # Panics
///
/// When the task fails. The process reports the failure by this panic.
pub fn main<F: Fixture>() {
    let Ok(text) = std::env::var(TASK) else { return };
    let patience = crate::wanted(PATIENCE);
    crate::set_patience(patience.unwrap_or(PATIENCE_MIN).max(PATIENCE_MIN));
    match Task::from_text(&text).expect("the task is one") {
        Task::Stay { place, address } => crate::statements::stay(&Run::new(F::at(&place), ""), &address),
        Task::Cycles => crate::statements::cycles(&Run::new(F::new(), "")),
    }
}
