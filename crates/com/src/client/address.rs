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
        // The areas of servers that this process has chosen are not limited together.
        channel.grant_areas(None);
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

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::vi_call::{Answer, ServerCall, Service, TargetId, serve};
    use obvia_via::Nic;
    use obvia_via::provider::udp;
    use obvia_via::window;

    const LIMIT: Deadline = Deadline::Within(ground::LATEST);
    /// The length of a response that does not fit the first area.
    const LENGTH: usize = 1 << 20;

    /// A server whose responses are long.
    struct Long;

    impl Service for Long {
        fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer {
            let length = call.reply(LENGTH, 0).map_or(0, |frame| frame.len());
            Answer::results(0, length)
        }

        fn answer_pdu(&mut self, _: &[u8]) -> Option<Vec<u8>> {
            None
        }

        fn abandoned(&mut self) {}

        fn tidy(&mut self) {}
    }

    fn call(channel: &mut Channel) -> Option<usize> {
        channel.inline_request(LIMIT).ok()?;
        let reply = channel.call(TargetId { index: 0, generation: 1 }, 3, 0, LIMIT).ok()?;
        Some(reply.frame.len())
    }

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_server_gets_areas_once_it_is_greeted() {
        let local: &'static LocalProcess = Box::leak(Box::new(LocalProcess::new().unwrap()));
        let nic: Nic = udp::open(&udp::Options::default()).unwrap();
        let mut listener = nic.listen("127.0.0.1:0").unwrap();
        let address = listener.address();
        let (host, port) = address.rsplit_once(':').unwrap();
        let address = Address::Binding(format!("ncacn_vi_udp:{host}[{port}]").parse().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..2 {
                    let request = listener.wait(LIMIT).unwrap();
                    let mut window = window::accept(&nic, request, &Options::default(), LIMIT).unwrap();
                    serve(&mut window, &mut Long);
                }
            });
            let connect = |greet: fn(&mut Channel) -> Result<Option<usize>>| {
                address.connect(local, &address.terms().unwrap(), &Options::default(), LIMIT, greet).unwrap()
            };
            let (_, received) = connect(|channel| Ok(call(channel)));
            assert_eq!(received, None);
            let (mut channel, _) = connect(|_| Ok(None));
            assert_eq!(call(&mut channel), Some(LENGTH));
        });
    }
}
