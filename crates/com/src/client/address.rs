//! The addresses of processes, and connections to them.

use crate::access::Protection;
use crate::client::canceller;
use crate::client::proof;
use crate::transport::local::LocalProcess;
use crate::transport::network::{proof_of, targets_of};
use crate::transport::routes::Targets;
use crate::transport::trace;
use crate::types::error::Result;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;
use obvia_via::window::{Options, Window};
use std::sync::Arc;

/// The terms of the connections to an address.
pub(crate) struct Terms {
    /// The target descriptions that associations with the process need; `None` for connections by
    /// shared memory and virtual interfaces.
    pub(super) targets: Option<Arc<Targets>>,
    /// The protection with which this process authenticates on each virtual interface over a
    /// network.
    proof: Option<Protection>,
}

impl Terms {
    /// Returns the protection of calls, if any.
    pub(crate) fn protection(&self) -> Option<&Protection> {
        self.targets.as_ref().map_or(self.proof.as_ref(), |targets| targets.protection())
    }
}

/// The address of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Address {
    /// A name in the directory of this host.
    Name(String),
    /// A string binding for a network.
    Binding(StringBinding),
}

impl Address {
    /// Opens a connection, authenticates on it where required, and greets the server. The thread's
    /// cancellers end the wait for the server's answers.
    pub(super) fn connect<R>(
        &self,
        local: &'static LocalProcess,
        terms: &Terms,
        options: &Options,
        deadline: Deadline,
        greet: impl FnOnce(&mut Channel) -> Result<R>,
    ) -> Result<(Channel, R)> {
        let mut channel = Channel::new(self.open(local, terms.targets.as_ref(), options, deadline)?);
        let greeted = canceller::cancellable(channel.alarm(), || {
            if let Some(proof) = &terms.proof {
                proof::prove(&mut channel, proof, deadline)?;
            }
            greet(&mut channel)
        })?;
        Ok((channel, greeted))
    }

    fn open(
        &self,
        local: &'static LocalProcess,
        targets: Option<&Arc<Targets>>,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Window> {
        match (self, targets) {
            (Self::Name(name), _) => {
                trace::note_shared_memory();
                let deadline = deadline.start();
                let dialled =
                    canceller::in_attempts(deadline, |deadline| Ok(local.directory().dial(name, deadline)?))?;
                canceller::cancellable(dialled.interrupter(), || Ok(dialled.complete(options, deadline)?))
            }
            (Self::Binding(binding), None) => local.network().connect(binding, options, deadline),
            (Self::Binding(binding), Some(targets)) => {
                let associate =
                    |deadline| local.network().associate(local.directory(), binding, targets, options, deadline);
                match binding.protocol {
                    ProtocolSequence::Lrpc => canceller::in_attempts(deadline, associate),
                    // A host may need longer than an attempt to accept a connection.
                    _ => associate(deadline),
                }
            }
        }
    }

    /// Returns the terms of connections to the address. An association's set of target descriptions
    /// is empty at first.
    pub(super) fn terms(&self) -> Result<Terms> {
        match self {
            Self::Name(_) => Ok(Terms { targets: None, proof: None }),
            Self::Binding(binding) => {
                Ok(Terms { targets: targets_of(binding)?.map(Arc::new), proof: proof_of(binding)? })
            }
        }
    }
}
