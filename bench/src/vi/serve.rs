//! The server process of a case.

use super::{Ask, End, Provider, ping, rdma};
use crate::{Error, Parent};
use std::convert::Infallible;

/// The task of a server process.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Task {
    /// Sends every message back.
    Echo,
    /// Offers memory for RDMA.
    Target,
}

impl Task {
    const ALL: [Self; 2] = [Self::Echo, Self::Target];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Target => "target",
        }
    }
}

impl std::str::FromStr for Task {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|task| task.name() == text);
        found.ok_or_else(|| Error::Usage { message: format!("there is no task `{text}`") })
    }
}

/// Runs the server process: connects to the client's `address`, and executes the server's task
/// until the client ends.
pub fn serve(ask: Ask, address: &str, cpu: usize, parent: u32) -> Result<Infallible, Error> {
    let parent = Parent::bind(parent, Some(cpu))?;
    let end = End::open(&ask, Provider::link_to(address))?;
    match ask.task {
        Task::Echo => ping::serve(ask, end, address, parent),
        Task::Target => rdma::serve(ask, end, address, parent),
    }
}
