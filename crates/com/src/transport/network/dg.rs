//! `ncadg_ip_udp`: standard calls as datagrams. Without connections, the end of a client is not
//! reported, so clients send messages at intervals while they live.
//!
//! A server has one option, `rundown`: the number of seconds without any message after which a
//! client counts as gone. The server then drops the client's context handles and references.

use super::sequence::{Means, Sequence, port};
use crate::transport::routes::Targets;
use crate::types::error::{Result, code};
use crate::types::threads::attend;
use obvia_rpc::dg::relay::{self, Keeper};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::Uuid;
use obvia_via::Deadline;
use obvia_via::datagram::DatagramSocket;
use obvia_via::window::{Options, Window};
use std::sync::{Arc, OnceLock};

pub(super) const SEQUENCE: Sequence = Sequence {
    protocol: ProtocolSequence::IpUdp,
    shared: &[],
    own: &["rundown"],
    alone: None,
    means: Means::Datagrams,
};

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
            // If two threads make identities at the same time, only one of the identities is used.
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
    pub(super) fn connect(
        &self,
        binding: &StringBinding,
        targets: &Arc<Targets>,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Window> {
        let socket = DatagramSocket::connect(&binding.address, port(binding)?, deadline)?;
        let Identity { client, keeper } = self.identity()?;
        Ok(relay::client(socket, Arc::clone(targets) as Arc<_>, keeper, *client, options)?)
    }
}
