//! The exporter of a process: its exports, its clients, and the access rules.

use super::clients::{Clients, Ending};
use super::connections::Connections;
use super::contexts::Contexts;
use super::services::Services;
use crate::access::Rules;
use crate::orpc::{Client, ClientNumber, SourcedClient};
use crate::server::exports::Exports;
use crate::server::functions::Functions;
use crate::transport::local::LocalProcess;
use crate::transport::network::Network;
use crate::types::hosts::SourceGroup;
use crate::types::identity::is_of_own_user;
use obvia_rpc::security::Principal;
use obvia_via::window::{Options, Peer};
use std::hash::{BuildHasher, RandomState};
use std::time::Instant;

/// The tables of a process's exports, of its clients, and of the states that the process keeps for
/// its clients.
pub(crate) struct Exporter {
    local: &'static LocalProcess,
    exports: Exports,
    clients: Clients,
    connections: Connections,
    functions: Functions,
    contexts: Contexts,
    rules: Rules,
    services: &'static dyn Services,
    /// The keys of the hash that computes the numbers of users, of hosts, and of peers that are not
    /// obvia processes.
    peers: RandomState,
}

impl Exporter {
    pub(crate) fn new(local: &'static LocalProcess, services: &'static dyn Services) -> Self {
        Self {
            local,
            exports: Exports::new(local.oxid()),
            clients: Clients::default(),
            connections: Connections::default(),
            functions: Functions::default(),
            contexts: Contexts::default(),
            rules: Rules::default(),
            services,
            peers: RandomState::new(),
        }
    }

    /// Returns the local process: its identity, the directory, and the networks.
    pub(crate) fn local(&self) -> &'static LocalProcess {
        self.local
    }

    pub(crate) fn network(&self) -> &'static Network {
        self.local.network()
    }

    pub(crate) fn oxid(&self) -> u64 {
        self.local.oxid()
    }

    pub(crate) fn options(&self) -> Options {
        self.local.options()
    }

    pub(crate) fn exports(&self) -> &Exports {
        &self.exports
    }

    pub(crate) fn clients(&self) -> &Clients {
        &self.clients
    }

    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
    }

    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    pub(crate) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the services for peers.
    pub(crate) fn services(&self) -> &'static dyn Services {
        self.services
    }

    /// Returns the client for which the references of a peer are counted, if the peer is not an
    /// obvia process. The client is identified by the peer's authenticated principal, and by the
    /// peer's host or, on this host, its process.
    pub(crate) fn peer(&self, peer: &Peer, principal: Option<&Principal>) -> Client {
        let number = match peer {
            Peer::Host(host) => self.peers.hash_one((host, principal)),
            Peer::Process { serial, .. } => self.peers.hash_one((serial, principal)),
        };
        Client::Peer(number.max(1))
    }

    /// Returns a peer as a client that passes references on, with its user or host. Processes of
    /// this user and of the superuser have no common limit, since they could control this process
    /// anyway.
    pub(crate) fn giver(&self, peer: &Peer, principal: Option<&Principal>) -> SourcedClient {
        let source = (!is_of_own_user(peer)).then(|| self.peers.hash_one(SourceGroup::of(peer)));
        SourcedClient { client: self.peer(peer, principal), source }
    }

    /// Returns the number of references and states that are kept for a client.
    pub(super) fn kept_for(&self, number: ClientNumber) -> usize {
        self.exports.held_by(number) + self.contexts.kept_for(number)
    }

    /// Removes the states of a client, and for `Ending::All` also its references. The result must
    /// be dropped while no lock is held, since its drop runs programs' code.
    pub(super) fn end_client(&self, number: ClientNumber, what: Ending) -> impl Sized + use<> {
        let references = (what == Ending::All).then(|| self.exports.drop_client(number));
        (references, self.contexts.end_client(number))
    }

    /// Ends the lost clients that [`Clients::give_up`] gives up. The result must be dropped while
    /// no lock is held.
    pub(crate) fn give_up_clients(&self) -> impl Sized + use<> {
        let (now, patience) = (Instant::now(), self.exports.patience());
        let end_client = |number| self.end_client(number, Ending::All);
        self.clients.give_up(now, patience, |number| self.kept_for(number), end_client)
    }
}

#[cfg(test)]
mod tests {
    use crate::services::process;
    use obvia_rpc::security::Principal;
    use obvia_via::window::Peer;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn the_processes_of_a_user_and_the_peers_of_a_host_share_a_limit_of_receivers() {
        let exporter = process::runtime().unwrap().exporter();
        let process = |serial, uid| Peer::Process { pid: 1, uid, serial };
        let own = rustix::process::geteuid().as_raw();
        let host = |address: &str| Peer::Host(address.to_owned());
        for (one, same, other) in [
            (process(1, own + 1), process(2, own + 1), process(3, own + 2)),
            (host("2001:db8::1"), host("2001:db8::2"), host("2001:db8:0:1::1")),
            (host("10.0.0.1"), host("::ffff:10.0.0.1"), host("10.0.0.2")),
        ] {
            let [one, same, other] = [one, same, other].map(|peer| exporter.giver(&peer, None));
            assert!(one.source == same.source && one.client != same.client, "{one:?} {same:?}");
            assert!(one.source.is_some() && other.source.is_some() && one.source != other.source);
        }
        assert!([0, own].iter().all(|user| exporter.giver(&process(4, *user), None).source.is_none()));
        let [alice, bob] = ["alice", "bob"].map(|user| Principal { domain: "d".to_owned(), user: user.to_owned() });
        let [one, other] = [alice, bob].map(|user| exporter.giver(&host("10.0.0.1"), Some(&user)));
        assert!(one.source == other.source && one.client != other.client);
    }
}
