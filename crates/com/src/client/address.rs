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
use obvia_via::window::{Options, Peer, Window};
use obvia_via::{Budget, Deadline, names};
use std::sync::Arc;

/// The settings that all connections to one address have in common.
pub(crate) struct Terms {
    /// The target descriptions that associations with the process need; `None` for connections by
    /// shared memory and virtual interfaces.
    pub(super) targets: Option<Arc<Targets>>,
    /// The protection with which this process authenticates on each virtual interface over a
    /// network.
    proof: Option<Protection>,
    /// The budgets for the areas of the connections; `None` where the program has chosen the
    /// address.
    budgets: Option<&'static dyn AreaBudgets>,
}

/// An address to which this process connects.
pub(crate) struct Destination {
    address: Address,
    /// The budgets for the areas of the connections; `None` where the program has chosen the
    /// address.
    budgets: Option<&'static dyn AreaBudgets>,
}

impl Destination {
    /// Makes a destination that the program has chosen.
    pub(crate) fn of_program(address: Address) -> Self {
        Self { address, budgets: None }
    }

    /// Makes a destination that a peer has chosen, by a reference.
    pub(crate) fn of_peer(address: Address, budgets: &'static dyn AreaBudgets) -> Self {
        Self { address, budgets: Some(budgets) }
    }

    /// Returns the address, and the terms of connections to it. The terms of an association begin
    /// with an empty set of target descriptions.
    pub(super) fn terms(self) -> Result<(Address, Terms)> {
        let Self { address, budgets } = self;
        let (targets, proof) = match &address {
            Address::Name(_) => (None, None),
            Address::Binding(binding) => (targets_of(binding)?.map(Arc::new), proof_of(binding)?),
        };
        Ok((address, Terms { targets, proof, budgets }))
    }
}

/// The budgets for the areas of connections to peers that the program has not chosen.
pub(crate) trait AreaBudgets: Sync {
    /// Returns the budget for a connection to this peer. `None` if the connection's areas are not
    /// limited.
    fn budget_for(&self, peer: &Peer) -> Option<Arc<dyn Budget>>;
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
    /// Opens a connection, authenticates on it where required, and runs `greet`, the first exchange
    /// after that. The thread's cancellers can end the wait for the server's answers.
    pub(super) fn connect<R>(
        &self,
        local: &'static LocalProcess,
        terms: &Terms,
        options: &Options,
        deadline: Deadline,
        greet: impl FnOnce(&mut Channel) -> Result<R>,
    ) -> Result<(Channel, R)> {
        let open = || self.open(local, terms.targets.as_ref(), options, deadline);
        let mut channel = Channel::new(if terms.budgets.is_some() { names::of_peer(open)? } else { open()? });
        let greeted = canceller::cancellable(channel.alarm(), || {
            if let Some(proof) = &terms.proof {
                proof::prove(&mut channel, proof, deadline)?;
            }
            greet(&mut channel)
        })?;
        channel.grant_areas(terms.budgets.and_then(|budgets| budgets.budget_for(&channel.peer())));
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
                    // A host can need more time to accept a connection than one attempt of
                    // `in_attempts` has, so the function makes a single attempt until the deadline.
                    _ => associate(deadline),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::status::Status;
    use obvia_rpc::vi_call::{Answer, CallError, ServerCall, Service, TargetId, serve};
    use obvia_via::Nic;
    use obvia_via::provider::udp;
    use obvia_via::window;

    const LIMIT: Deadline = Deadline::Within(ground::LATEST);
    /// The length, in bytes, of a response that does not fit the first area.
    const LENGTH: usize = 1 << 20;

    /// Budgets that grant no byte of memory.
    #[derive(Debug)]
    struct Nothing;

    impl AreaBudgets for Nothing {
        fn budget_for(&self, _: &Peer) -> Option<Arc<dyn Budget>> {
            Some(Arc::new(Self))
        }
    }

    impl Budget for Nothing {
        fn take(&self, _: usize) -> bool {
            false
        }

        fn give_back(&self, _: usize) {}
    }

    /// A server whose responses are long.
    struct Long;

    impl Service for Long {
        fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer {
            match call.reply(LENGTH, 0).map(|frame| frame.len()) {
                Ok(length) => Answer::results(0, length),
                Err(_) => Answer::fault(Status::REMOTE_NO_MEMORY),
            }
        }

        fn answer_pdu(&mut self, _: &[u8]) -> Option<Vec<u8>> {
            None
        }

        fn abandoned(&mut self) {}

        fn tidy(&mut self) {}
    }

    fn call(channel: &mut Channel) -> std::result::Result<usize, CallError> {
        channel.inline_request(LIMIT)?;
        let reply = channel.call(TargetId { index: 0, generation: 1 }, 3, 0, LIMIT)?;
        Ok(reply.frame.len())
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_server_gets_areas_once_it_is_greeted_and_within_its_budget() {
        let local: &'static LocalProcess = Box::leak(Box::new(LocalProcess::new().unwrap()));
        let nic: Nic = udp::open(&udp::Options::default()).unwrap();
        let mut listener = nic.listen("127.0.0.1:0").unwrap();
        let address = listener.address();
        let (host, port) = address.rsplit_once(':').unwrap();
        let address = Address::Binding(format!("ncacn_vi_udp:{host}[{port}]").parse().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..3 {
                    let request = listener.wait(LIMIT).unwrap();
                    let mut window = window::accept(&nic, request, &Options::default(), LIMIT).unwrap();
                    serve(&mut window, &mut Long);
                }
            });
            let connect = |budgets: Option<&'static dyn AreaBudgets>, greet: fn(&mut Channel) -> Result<bool>| {
                let (address, terms) = Destination { address: address.clone(), budgets }.terms().unwrap();
                address.connect(local, &terms, &Options::default(), LIMIT, greet).unwrap()
            };
            let (_, has_received) = connect(None, |channel| Ok(call(channel).is_ok()));
            assert!(!has_received);
            let (mut channel, _) = connect(None, |_| Ok(true));
            assert_eq!(call(&mut channel).unwrap(), LENGTH);
            // The server serves one connection at a time, so this connection has to end before the
            // next begins.
            drop(channel);
            let (mut channel, _) = connect(Some(&Nothing), |_| Ok(true));
            for _ in 0..2 {
                // The server words the description for the client, so "this process" means the
                // client's process.
                let refused = call(&mut channel).unwrap_err();
                assert!(
                    matches!(&refused, CallError::Failed(_, words) if words.description.starts_with("this process has no memory left")),
                    "{refused}"
                );
            }
        });
    }
}
