//! The error type of measurements.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// The reason why a measurement failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A result was wrong: the measured path does not work.
    Corrupt {
        /// The checked value.
        what: &'static str,
        /// The expected value.
        expected: u64,
        /// The value found.
        found: u64,
    },
    /// A call over the measured path failed.
    Failed {
        /// The error message.
        message: String,
    },
    /// The process on the other side ended.
    PeerDied {
        /// The exit status, if known.
        status: Option<ExitStatus>,
    },
    /// No answer came within the time limit.
    Stalled {
        /// The time limit.
        after: Duration,
    },
    /// A system call failed.
    System {
        /// The attempted action.
        what: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// The request is invalid.
    Usage {
        /// The message with the correct usage.
        message: String,
    },
}

impl Error {
    /// Returns a function for `map_err` that wraps the system's error. `what` is the attempted
    /// action.
    pub fn system<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { what, source: source.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupt { what, expected, found } => {
                write!(f, "wrong answer: {what} is {found}, expected {expected}")
            }
            Self::Failed { message } | Self::Usage { message } => f.write_str(message),
            Self::PeerDied { status: None } => f.write_str("the other process ended"),
            Self::PeerDied { status: Some(status) } => write!(f, "the other process ended: {status}"),
            Self::Stalled { after } => {
                write!(f, "no answer within {} s", after.as_secs_f32())
            }
            Self::System { what, source } => write!(f, "{what}: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::System { source, .. } => Some(source),
            _ => None,
        }
    }
}
