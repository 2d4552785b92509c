//! `ncadg_ip_udp`: standard calls as datagrams. Without connections, the end of a client is not
//! reported, so clients send messages now and then while they live.
//!
//! A server has one option, `rundown`: the number of seconds without any message after which a
//! client counts as gone, with its context handles and its references.

use super::sequence::{Means, Sequence, Wanted};
use super::{complete, port};
use crate::error::{Error, Result, code};
use crate::presentation::Visitors;
use crate::routes::Targets;
use crate::runtime::Runtime;
use crate::threads::attend;
use obvia_rpc::dg::relay::{self, Endpoint, EndpointOptions, Keeper};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::Uuid;
use obvia_via::Waiting;
use obvia_via::datagram::DatagramSocket;
use obvia_via::window::{Options, Window};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub(super) const SEQUENCE: Sequence = Sequence {
    protocol: ProtocolSequence::IpUdp,
    shared: &[],
    own: &["rundown"],
    alone: None,
    means: Means::Datagrams,
};

/// The default rundown time. Other implementations send a message every half minute.
const RUNDOWN: Duration = Duration::from_secs(120);

/// The identity of this process for servers, and the keeper of its activities between calls.
#[derive(Debug)]
struct Identity {
    client: Uuid,
    keeper: Arc<Keeper>,
}

/// The identity of this process for servers, made at the first call.
#[derive(Debug, Default)]
pub(super) struct Activities(OnceLock<Identity>);

impl Activities {
    fn identity(&self) -> Result<&Identity> {
        if self.0.get().is_none() {
            let made = Identity { client: relay::draw()?, keeper: Arc::default() };
            let keeper = Arc::clone(&made.keeper);
            // If two threads arrive at once, only the identity of one is used.
            if self.0.set(made).is_ok() {
                attend("obvia-keep", move || {
                    keeper.round();
                    Ok(())
                })?;
            }
        }
        self.0.get().ok_or_else(|| code::E_UNEXPECTED.into())
    }

    /// Prepares calls to a server, without sending a message.
    pub(super) fn connect(&self, binding: &StringBinding, targets: &Arc<Targets>, options: &Options) -> Result<Window> {
        let socket = DatagramSocket::connect(&binding.address, port(binding)?)?;
        let Identity { client, keeper } = self.identity()?;
        Ok(relay::client(socket, Arc::clone(targets) as Arc<_>, keeper, *client, options)?)
    }
}

/// Returns the rundown time of clients.
fn rundown(wanted: &Wanted) -> Result<Duration> {
    match wanted.value("rundown") {
        "" => Ok(RUNDOWN),
        text => text
            .parse()
            .map(Duration::from_secs)
            .map_err(|_| Error::new(code::E_INVALIDARG, format!("rundown={text}: it is a number of seconds"))),
    }
}

/// Listens, and sets the binding's endpoint to the actual one.
pub(super) fn listen(runtime: &'static Runtime, wanted: &Wanted, binding: &mut StringBinding) -> Result<()> {
    let rundown = rundown(wanted)?;
    complete(binding);
    let socket = DatagramSocket::bind(&binding.address, port(binding)?)?;
    binding.endpoint = socket.port().to_string();
    let visitors = Visitors::new(runtime, socket.local_host().map(|host| host.to_string()));
    // The thread receives for other threads that perform the calls. Polling would take the
    // processor from them.
    let window = Options { waiting: Waiting::Block, ..runtime.options() };
    let endpoint = Endpoint::new(socket, Arc::new(visitors), EndpointOptions { window, rundown });
    attend("obvia-datagrams", move || endpoint.attend())
}
