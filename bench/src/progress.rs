//! The progress of a run on standard error.

use crate::Progress;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// A line on standard error that is overwritten in place; without a terminal, a new line every 5 s.
#[derive(Debug)]
pub struct ProgressLine {
    terminal: bool,
    shown: Option<Instant>,
    every: Duration,
}

impl Default for ProgressLine {
    fn default() -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self {
            terminal,
            shown: None,
            every: if terminal { Duration::from_millis(200) } else { Duration::from_secs(5) },
        }
    }
}

impl ProgressLine {
    /// Shows the progress of a run, unless the line last changed less than `every` ago.
    pub fn show(&mut self, state: Progress<'_>) {
        if self.shown.is_some_and(|shown| shown.elapsed() < self.every) {
            return;
        }
        self.shown = Some(Instant::now());
        let label = state.next;
        let text = format!(
            "round {} of {}: {} {}{} over {} ({})",
            state.round + 1,
            state.rounds,
            label.case,
            label.bytes,
            if label.at_once > 1 { format!(", {} at once", label.at_once) } else { String::new() },
            label.path.name(),
            label.wait.name()
        );
        // A write error must not stop the measurement, here and below.
        let mut stderr = std::io::stderr().lock();
        let _ = if self.terminal { write!(stderr, "\r\x1b[K{text}") } else { writeln!(stderr, "{text}") };
    }

    /// Clears the line.
    pub fn clear(&self) {
        if self.terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}
