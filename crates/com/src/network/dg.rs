//! `ncadg_ip_udp`: the standard's calls as datagrams. There is no connection that ends: clients show now and then that they are there.
//!
//! A server has one option, `rundown`: for how many seconds a client may say nothing before it is taken for gone, with its context handles and its
//! references.

use super::sequence::{Means, Sequence, Wanted};
use super::{complete, port};
use crate::error::{Error, Result, code};
use crate::presentation::{Targets, Visitors};
use crate::runtime::Runtime;
use crate::server::attend;
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

/// How long a client may say nothing: other runtimes show every half minute that they are there.
const RUNDOWN: Duration = Duration::from_secs(120);

/// This process as servers know it, and what attends to its activities between their calls.
#[derive(Debug)]
struct Identity {
    client: Uuid,
    keeper: Arc<Keeper>,
}

/// What this process is to servers, from the first call on.
#[derive(Debug, Default)]
pub(super) struct Activities(OnceLock<Identity>);

impl Activities {
    fn identity(&self) -> Result<&Identity> {
        if self.0.get().is_none() {
            let made = Identity { client: relay::draw()?, keeper: Arc::default() };
            let keeper = Arc::clone(&made.keeper);
            // Of two threads that come here at once, one has made it.
            if self.0.set(made).is_ok() {
                attend("obvia-keep", move || {
                    keeper.round();
                    Ok(())
                })?;
            }
        }
        self.0.get().ok_or_else(|| code::E_UNEXPECTED.into())
    }

    /// Connects to a server, which notices nothing of it.
    pub(super) fn connect(&self, binding: &StringBinding, targets: &Arc<Targets>, options: &Options) -> Result<Window> {
        let socket = DatagramSocket::connect(&binding.address, port(binding)?)?;
        let Identity { client, keeper } = self.identity()?;
        Ok(relay::client(socket, Arc::clone(targets) as Arc<_>, keeper, *client, options)?)
    }
}

/// How long clients may say nothing.
fn rundown(wanted: &Wanted) -> Result<Duration> {
    match wanted.value("rundown") {
        "" => Ok(RUNDOWN),
        text => text
            .parse()
            .map(Duration::from_secs)
            .map_err(|_| Error::new(code::E_INVALIDARG, format!("rundown={text}: it is a number of seconds"))),
    }
}

/// Listens. The binding gets the endpoint that was taken.
pub(super) fn listen(runtime: &'static Runtime, wanted: &Wanted, binding: &mut StringBinding) -> Result<()> {
    let rundown = rundown(wanted)?;
    complete(binding);
    let socket = DatagramSocket::bind(&binding.address, port(binding)?)?;
    binding.endpoint = socket.port().to_string();
    let visitors = Visitors::new(runtime, socket.local_host().map(|host| host.to_string()));
    // Another thread receives for those that perform calls: one that polled would only take the processor from it.
    let window = Options { waiting: Waiting::Block, ..runtime.options() };
    let endpoint = Endpoint::new(socket, Arc::new(visitors), EndpointOptions { window, rundown });
    attend("obvia-datagrams", move || endpoint.attend())
}
