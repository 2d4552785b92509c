//! How a process is reached: by whom, and as what.

use super::{Runtime, in_order};
use crate::link::{endpoint_of, local_binding};
use crate::network;
use crate::orpc::Client;
use crate::server::{self, Caller};
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

impl Runtime {
    /// The host that this process is to a peer, if it reaches that over a network, and the level at which it protects calls of it.
    pub(super) fn local_to(&self, oxid: u64) -> Option<(String, Option<Level>)> {
        let told = || {
            let caller = server::caller().filter(|caller| caller.process() == Some(oxid))?;
            let heard = &caller.told()?.heard;
            Some((heard.address.clone(), network::level_of(heard)))
        };
        self.links.local_to(oxid).or_else(|| Some((self.clients.local_to(oxid)?, None))).or_else(told)
    }

    /// How a caller reaches this process. Who was sent here by the host's service gets here as it got there.
    pub(crate) fn heard_by(&self, caller: Option<&Caller>) -> Vec<StringBinding> {
        match caller.and_then(Caller::told) {
            Some(told) => self.network.heard_like(&told.heard),
            None => {
                let local = caller.and_then(|caller| self.clients.local_to(caller.oxid));
                self.network.heard(local.as_deref())
            }
        }
    }

    /// The string bindings by which strangers reach the resolver of this process: at the address that the caller has used, or at all of them. Over
    /// TCP the endpoint is left out, as everybody knows it (MS-DCOM 2.2.19.3).
    fn bindings_for_strangers(&self) -> Vec<StringBinding> {
        let heard = self.heard_by(server::caller().as_deref()).into_iter();
        let heard =
            heard.filter(|binding| matches!(binding.protocol, ProtocolSequence::IpTcp | ProtocolSequence::Lrpc));
        let plain = heard.map(|binding| StringBinding { options: Vec::new(), ..binding });
        let known = |binding: StringBinding| match binding.protocol {
            ProtocolSequence::IpTcp => StringBinding { endpoint: String::new(), ..binding },
            _ => binding,
        };
        plain.map(known).collect()
    }

    /// How a peer reaches this process.
    pub(crate) fn bindings_for(&'static self, client: Client) -> Vec<StringBinding> {
        let Client::Process(client) = client else { return self.bindings_for_strangers() };
        let mut bindings = vec![local_binding(endpoint_of(self.oxid))];
        if let Some((local, level)) = self.local_to(client) {
            bindings.extend(self.network.bindings(self, &local, level));
        }
        bindings
    }

    /// How this process is reached: a string binding on each line, the best first.
    pub(crate) fn list_bindings(&self, client: u64) -> String {
        let local = self.local_to(client).map(|(local, _)| local);
        let mut bindings = vec![local_binding(endpoint_of(self.oxid))];
        bindings.extend(self.network.heard(local.as_deref()));
        in_order(&bindings).map(|binding| format!("{binding}\n")).collect()
    }
}
