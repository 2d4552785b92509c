//! The bindings by which different clients reach this process.

use super::Runtime;
use crate::orpc::{Client, ClientNumber};
use crate::server::{self, Caller};
use crate::transport::network;
use crate::types::identity::{endpoint_of, in_order, local_binding};
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

impl Runtime {
    /// Returns the host name by which a client reaches this process over a network, if any, and the
    /// level at which this process protects its calls to the client.
    pub(super) fn local_to(&self, client: ClientNumber) -> Option<(String, Option<Level>)> {
        let (oxid, local) = self.clients().way_of(client)?;
        self.local_of(oxid, local)
    }

    fn local_of(&self, oxid: u64, local: Option<String>) -> Option<(String, Option<Level>)> {
        let by_forwarding = || {
            let caller = server::caller().filter(|caller| caller.process() == Some(oxid))?;
            let heard = &caller.forwarding()?.heard;
            Some((heard.address.clone(), network::level_of(heard)))
        };
        self.links.local_to(oxid).or_else(|| Some((local?, None))).or_else(by_forwarding)
    }

    /// Returns the bindings by which a caller reaches this process. Forwarded clients get bindings
    /// that match the binding by which they reached the SCM.
    pub(crate) fn bindings_of_caller(&self, caller: Option<&Caller>) -> Vec<StringBinding> {
        match caller.and_then(Caller::forwarding) {
            Some(forwarding) => self.network().bindings_like(&forwarding.heard),
            None => self.network().bindings(caller.and_then(Caller::local)),
        }
    }

    /// Returns the string bindings by which clients that are not obvia processes reach the resolver
    /// of this process: at the address that the caller has used, or at all addresses. Over TCP the
    /// endpoint is omitted, since it is well known (MS-DCOM 2.2.19.3).
    fn bindings_for_foreign_clients(&self) -> Vec<StringBinding> {
        let heard = self.bindings_of_caller(server::caller().as_deref()).into_iter();
        let heard =
            heard.filter(|binding| matches!(binding.protocol, ProtocolSequence::IpTcp | ProtocolSequence::Lrpc));
        let plain = heard.map(|binding| StringBinding { options: Vec::new(), ..binding });
        let known = |binding: StringBinding| match binding.protocol {
            ProtocolSequence::IpTcp => StringBinding { endpoint: String::new(), ..binding },
            _ => binding,
        };
        plain.map(known).collect()
    }

    /// Returns the string bindings by which a client reaches this process.
    pub(crate) fn bindings_for(&'static self, client: Client) -> Vec<StringBinding> {
        self.bindings_while_there(client).unwrap_or_else(|| vec![local_binding(endpoint_of(self.oxid()))])
    }

    /// Returns the bindings as [`Self::bindings_for`] does; `None` for a process that is neither a
    /// client nor expected.
    pub(super) fn bindings_while_there(&'static self, client: Client) -> Option<Vec<StringBinding>> {
        let Client::Process(client) = client else { return Some(self.bindings_for_foreign_clients()) };
        let (oxid, local) = self.clients().way_of(client)?;
        let mut bindings = vec![local_binding(endpoint_of(self.oxid()))];
        if let Some((local, level)) = self.local_of(oxid, local) {
            bindings.extend(self.exporter.bindings(&local, level));
        }
        Some(bindings)
    }

    /// Returns the string bindings of this process for a client, or for any client, one per line,
    /// the best first.
    pub(crate) fn list_bindings(&self, client: Option<ClientNumber>) -> String {
        let local = client.and_then(|client| self.local_to(client)).map(|(local, _)| local);
        let mut bindings = vec![local_binding(endpoint_of(self.oxid()))];
        bindings.extend(self.network().bindings(local.as_deref()));
        in_order(&bindings).map(|binding| format!("{binding}\n")).collect()
    }
}
