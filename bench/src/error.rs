//! What can go wrong while measuring.

use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;

/// Why a measurement did not come about.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// An answer was not what it had to be: the path measured does not work.
    Corrupt {
        /// What was looked at.
        what: &'static str,
        /// What it had to be.
        expected: u64,
        /// What it was.
        found: u64,
    },
    /// A call of the path under test failed.
    Failed {
        /// What it said.
        message: String,
    },
    /// The process on the other side ended.
    PeerDied {
        /// How it ended, where that is known.
        status: Option<ExitStatus>,
    },
    /// No answer came within the time allowed.
    Stalled {
        /// The time allowed.
        after: Duration,
    },
    /// The system refused something.
    System {
        /// What was tried.
        what: &'static str,
        /// Its answer.
        source: std::io::Error,
    },
    /// The request makes no sense.
    Usage {
        /// What to do instead.
        message: String,
    },
}

impl Error {
    /// For `map_err`: the system's answer to `what`.
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
