//! Links to other processes, by names, string bindings and references.

use super::Runtime;
use super::links::key_of;
use super::unreached::Entry;
use crate::client::address::{Address, AreaBudgets, Destination};
use crate::client::handshake::{self, Outcome, Reached};
use crate::client::link::Link;
use crate::client::own_target;
use crate::protocol::objref::ObjRef;
use crate::transport::network::{self, for_peers};
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::identity::{endpoint_of, in_order};
use crate::types::upkeep;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::window::Peer;
use obvia_via::{Budget, Deadline};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The time limit for the attempt by each binding of a process except the last one. Thus an
/// unreachable binding does not use up the whole deadline.
pub(super) const ATTEMPT: Duration = Duration::from_secs(3);

/// Returns the time limit of an attempt that leaves time for another attempt: at most half of the
/// remaining time.
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
    // The object UUID selects an object of the process and is no part of its address.
    binding.object = None;
    Ok((Address::Binding(binding), name))
}

/// Whether a text is a string binding rather than a name: `ncacn_vi_udp:host[5555]`.
pub fn is_string_binding(text: &str) -> bool {
    StringBinding::is_meant(text)
}

impl AreaBudgets for Runtime {
    fn budget_for(&self, peer: &Peer) -> Option<Arc<dyn Budget>> {
        self.clients().area_budget(peer)
    }
}

impl Runtime {
    /// Returns the link to the process at a name or an address that the program has chosen. All
    /// steps share one deadline.
    pub(crate) fn link_by_address(&'static self, address: Address) -> Result<Arc<Link>> {
        self.reach(Destination::of_program(address))
    }

    /// Returns the link to the process at a destination, as [`Self::link_by_address`] does.
    fn reach(&'static self, to: Destination) -> Result<Arc<Link>> {
        let deadline = deadline::of_thread().start();
        let known = |reached: &Reached| self.links.known(&key_of(reached));
        let reached = match handshake::reach(self.local, to, deadline, known)? {
            Outcome::Known(link) => return Ok(link),
            Outcome::New(reached) => reached,
        };
        let key = key_of(&reached);
        let fresh = Link::of(self.local, *reached)?;
        let (link, is_fresh) = deadline::with(deadline, || self.links.add(key, fresh))?;
        if is_fresh {
            self.give_back_unreached(&link);
            // The janitor must run, since it closes unused links.
            upkeep::wake();
        }
        Ok(link)
    }

    /// Returns the link to the process of a reference with these bindings: an existing link, or a
    /// new one by the best binding that works. All attempts share one deadline.
    pub(crate) fn link_to(&'static self, oxid: u64, bindings: &[StringBinding]) -> Result<Arc<Link>> {
        let mut over_network = in_order(bindings).filter(|binding| binding.protocol != ProtocolSequence::ViShm);
        let known = |binding: &StringBinding| self.links.known_by(oxid, binding);
        // An existing network link takes precedence over shared memory, because the program chose
        // the network.
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
                // The sender of a reference must not choose the options that concern this process
                // alone.
                Address::Binding(for_peers(binding.clone()))
            };
            let remaining = deadline.remaining();
            let limit = if left == 0 { remaining } else { share_of(remaining) };
            outcome = deadline::with(Deadline::Within(limit), || self.reach(Destination::of_peer(address, self)));
            match &outcome {
                Ok(link) if link.oxid() == oxid => return outcome,
                Ok(_) => return Err(others()),
                Err(error) if deadline.is_over() || error.code() == code::RPC_E_CALL_CANCELED => return outcome,
                // The binding cannot be reached, for example because it is local to another host.
                // The next binding is tried.
                Err(_) => {}
            }
        }
        outcome
    }

    /// Runs `work` with the link to the process of a received reference. [`Self::link_to`] returns
    /// the link. If the process cannot be reached, the reference is recorded, and the next link to
    /// the process gives it back.
    ///
    /// Earlier recorded references to the same target are given back after `work`. If `work` makes
    /// a proxy, they are given back together with the proxy's references.
    pub(crate) fn with_link_for<R>(
        &'static self,
        reference: &ObjRef,
        work: impl FnOnce(&Arc<Link>) -> Result<R>,
    ) -> Result<R> {
        let received = Instant::now();
        let earlier = self.unreached.take_target(reference);
        match self.link_to(reference.oxid, &reference.bindings) {
            Ok(link) => {
                let outcome = work(&link);
                self.give_back_recent(&link, earlier);
                outcome
            }
            Err(error) => {
                self.unreached.put_back(earlier);
                // A reference without bindings, or whose endpoint belongs to another process, is
                // forged: nothing is given back for it.
                if error.code() != code::RPC_E_INVALID_OBJREF && reference.public_refs > 0 {
                    match self.links.to(reference.oxid).first() {
                        Some(link) => link.give_back(reference.target, reference.public_refs),
                        None => self.unreached.add(reference, received, self.unreached_limit()),
                    }
                }
                // During the attempt, another thread may have made a link to the process.
                if let Some(link) = self.links.to(reference.oxid).first() {
                    self.give_back_unreached(link);
                }
                Err(error)
            }
        }
    }

    /// Returns the time for which unreached references are remembered: half of the time for which
    /// an exporter keeps references for a process without a connection. The exporter counted the
    /// references before this process received them.
    fn unreached_limit(&self) -> Duration {
        self.exports().patience() / 2
    }

    /// Gives back, over a link to a process, the unreached references to objects of the process.
    fn give_back_unreached(&self, link: &Link) {
        self.give_back_recent(link, self.unreached.take(link.oxid()));
    }

    /// Gives back those of the references in `all` that are not older than the limit for unreached
    /// references.
    fn give_back_recent(&self, link: &Link, all: Vec<Entry>) {
        let (now, limit) = (Instant::now(), self.unreached_limit());
        for entry in all.into_iter().filter(|entry| entry.is_recent(now, limit)) {
            link.give_back(entry.target, entry.refs);
        }
    }

    /// Returns the link to the process that a name or a string binding denotes.
    pub(crate) fn link_at(&'static self, text: &str) -> Result<Arc<Link>> {
        self.link_by_address(address_of(text)?.0)
    }

    /// Returns the link to the process that a name or a string binding denotes, and the exported
    /// name. If the text contains no name, the process must export exactly one.
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
    /// Adds a link to a process of this host, as if the process had been reached.
    #[cfg(test)]
    pub(crate) fn add_link(&self, link: Link) -> Arc<Link> {
        self.links.add((link.oxid(), None), link).unwrap().0
    }
}
