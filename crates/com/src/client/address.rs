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
        (targets, proof): (Option<&Arc<Targets>>, Option<&Protection>),
        options: &Options,
        deadline: Deadline,
        greet: impl FnOnce(&mut Channel) -> Result<R>,
    ) -> Result<(Channel, R)> {
        let mut channel = Channel::new(self.open(local, targets, options, deadline)?);
        let greeted = canceller::cancellable(channel.alarm(), || {
            if let Some(proof) = proof {
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

    /// Returns an empty set of target descriptions where connections to the address are
    /// associations.
    pub(super) fn targets(&self) -> Result<Option<Arc<Targets>>> {
        match self {
            Self::Name(_) => Ok(None),
            Self::Binding(binding) => Ok(targets_of(binding)?.map(Arc::new)),
        }
    }

    /// Returns the protection with which this process authenticates at the address, if any.
    pub(super) fn proof(&self) -> Result<Option<Protection>> {
        match self {
            Self::Name(_) => Ok(None),
            Self::Binding(binding) => proof_of(binding),
        }
    }
}
