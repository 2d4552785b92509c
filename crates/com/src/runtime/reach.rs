//! Links to other processes, by names, string bindings and references.

use super::Runtime;
use super::links::key_of;
use crate::client::address::Address;
use crate::client::handshake::{self, Outcome, Reached};
use crate::client::link::{Link, RELEASE_TIMEOUT};
use crate::client::own_target;
use crate::client::proxy;
use crate::protocol::objref::ObjRef;
use crate::transport::network::{self, for_peers};
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::identity::{endpoint_of, in_order};
use crate::types::upkeep;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Deadline;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time limit for each of a process's bindings but the last, so that an unreachable binding
/// does not use up the whole deadline.
pub(super) const ATTEMPT: Duration = Duration::from_secs(3);

/// Returns the part of the remaining time that one attempt gets of two: a short time leaves enough
/// to the other.
pub(crate) fn share_of(remaining: Duration) -> Duration {
    ATTEMPT.min(remaining / 2)
}

/// Returns the address that a name or a string binding denotes, and the exported name in it, if
/// any.
pub(crate) fn address_of(text: &str) -> Result<(Address, Option<String>)> {
    if !StringBinding::is_meant(text) {
        return Ok((Address::Name(text.to_owned()), Some(text.to_owned())));
    }
    let mut binding = network::parse(text)?;
    let name = binding.option("name").map(str::to_owned);
    if binding.protocol == ProtocolSequence::ViShm {
        let name = name.unwrap_or(if binding.endpoint.is_empty() { binding.address } else { binding.endpoint });
        return Ok((Address::Name(name.clone()), Some(name)));
    }
    binding.options.retain(|(option, _)| option != "name");
    // The object UUID is resolved by the process at the address.
    binding.object = None;
    Ok((Address::Binding(binding), name))
}

/// Whether a text is a string binding rather than a name: `ncacn_vi_udp:host[5555]`.
pub fn is_string_binding(text: &str) -> bool {
    StringBinding::is_meant(text)
}

impl Runtime {
    /// Returns the link to the process at a name or an address. All steps share one deadline.
    pub(crate) fn link_by_address(&'static self, address: Address) -> Result<Arc<Link>> {
        let deadline = deadline::of_thread().start();
        let known = |reached: &Reached| self.links.known(&key_of(reached));
        let reached = match handshake::reach(self.local, address, deadline, known)? {
            Outcome::Known(link) => return Ok(link),
            Outcome::New(reached) => reached,
        };
        let key = key_of(&reached);
        let fresh = Link::of(self.local, *reached)?;
        self.give_back_unreached(&fresh);
        let (link, is_fresh) = deadline::with(deadline, || self.links.add(key, fresh))?;
        if is_fresh {
            // The janitor must run, since it closes unused links.
            upkeep::wake();
        }
        Ok(link)
    }

    /// Returns the link to a process with these bindings: an existing one, or a new one by the best
    /// binding that works. All attempts share one deadline.
    pub(crate) fn link_to(&'static self, oxid: u64, bindings: &[StringBinding]) -> Result<Arc<Link>> {
        let mut over_network = in_order(bindings).filter(|binding| binding.protocol != ProtocolSequence::ViShm);
        let known = |binding: &StringBinding| self.links.known_by(oxid, binding);
        // An existing network link takes precedence over shared memory: the program chose it.
        if let Some(known) = over_network.find_map(known) {
            return Ok(known);
        }
        let others = || Error::new(code::RPC_E_INVALID_OBJREF, "the reference's endpoint leads to another process");
        let mut outcome = Err(Error::new(code::RPC_E_INVALID_OBJREF, "the reference has no binding"));
        let mut left = bindings.len();
        let deadline = deadline::of_thread().start();
        for binding in in_order(bindings) {
            left -= 1;
            let address = if binding.protocol == ProtocolSequence::ViShm {
                if let Some(known) = self.links.known(&(oxid, None)) {
                    return Ok(known);
                }
                // The check comes before any connection is made, so that a forged reference cannot
                // choose the peer of this process.
                if binding.address != endpoint_of(oxid) {
                    return Err(others());
                }
                Address::Name(binding.address.clone())
            } else {
                // The sender of a reference does not decide the options that are this process's
                // own.
                Address::Binding(for_peers(binding.clone()))
            };
            let remaining = deadline.remaining();
            let limit = if left == 0 { remaining } else { share_of(remaining) };
            outcome = deadline::with(Deadline::Within(limit), || self.link_by_address(address));
            match &outcome {
                Ok(link) if link.oxid() == oxid => return outcome,
                Ok(_) => return Err(others()),
                Err(error) if deadline.is_over() || error.code() == code::RPC_E_CALL_CANCELED => return outcome,
                // The binding cannot be reached, for example because it is another host's own: the
                // next one is tried.
                Err(_) => {}
            }
        }
        outcome
    }

    /// Returns the link to the process of a received reference, by [`Self::link_to`]. If the
    /// process cannot be reached, the reference is recorded, and the next link to the process gives
    /// it back.
    pub(crate) fn link_for(&'static self, reference: &ObjRef) -> Result<Arc<Link>> {
        let received = Instant::now();
        self.link_to(reference.oxid, &reference.bindings).inspect_err(|error| {
            // A reference without bindings, or whose endpoint belongs to another process, is
            // forged: nothing is given back for it.
            if error.code() == code::RPC_E_INVALID_OBJREF || reference.public_refs == 0 {
                return;
            }
            match self.links.to(reference.oxid).first() {
                Some(link) => proxy::give_back(link, reference.target, reference.public_refs),
                None => self.unreached.add(reference, received, self.unreached_limit()),
            }
        })
    }

    /// Returns the time for which unreached references are remembered: half of the time for which
    /// an exporter keeps references for a process without a connection, since the exporter counted
    /// them earlier.
    fn unreached_limit(&self) -> Duration {
        self.exports().patience() / 2
    }

    /// Gives unreached references back over a new link, before any other is counted for it. If
    /// there is another link to the process, they could belong to its proxies, and are forgotten.
    fn give_back_unreached(&self, fresh: &Link) {
        let refs = self.unreached.take(fresh.oxid(), Instant::now(), self.unreached_limit());
        if !refs.is_empty() && self.links.to(fresh.oxid()).is_empty() {
            // References that cannot be sent now are left to the end of the connection.
            let _ = fresh.release(&refs, Deadline::Within(RELEASE_TIMEOUT).start());
        }
    }

    /// Returns the link to the process that a name or a string binding denotes.
    pub(crate) fn link_at(&'static self, text: &str) -> Result<Arc<Link>> {
        self.link_by_address(address_of(text)?.0)
    }

    /// Returns the link to the process that a name or a string binding denotes, and the exported
    /// name.
    pub(crate) fn find(&'static self, text: &str) -> Result<(Arc<Link>, String)> {
        let (address, wanted) = address_of(text)?;
        let link = self.link_by_address(address)?;
        if let Some(name) = wanted {
            return Ok((link, name));
        }
        let names = own_target::list(&link)?;
        let mut names = names.lines().filter_map(|line| line.split('\t').next());
        match (names.next(), names.next()) {
            (Some(only), None) => Ok((link, only.to_owned())),
            (None, _) => Err(Error::new(code::RPC_S_SERVER_UNAVAILABLE, format!("nothing is exported at {text}"))),
            (Some(one), Some(two)) => {
                let rest: String = names.map(|name| format!(", {name}")).collect();
                let text =
                    format!("several names are exported there, {one}, {two}{rest}: select one by [...,name={one}]");
                Err(Error::new(code::E_INVALIDARG, text))
            }
        }
    }

    /// Returns all links, for the janitor.
    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        self.links.all()
    }

    /// Closes links without users for which `is_useless` returns true.
    pub(crate) fn close_links(&self, is_useless: impl Fn(&Link) -> bool) {
        drop(self.links.take_unused(is_useless));
    }
}
