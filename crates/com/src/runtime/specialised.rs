//! Objects that are called over virtual interfaces: the virtual interface bindings of this process
//! and of others.

use super::Runtime;
use super::data::destination;
use super::reach::{ATTEMPT, share_of};
use crate::client::link::Link;
use crate::orpc::{Client, DualStringArray};
use crate::protocol::objref::ObjRef;
use crate::runtime::marshaling::Context;
use crate::transport::network::{level_of, protected};
use crate::types::deadline;
use crate::types::error::{Result, code};
use crate::types::identity::{endpoint_of, in_order, local_binding};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Deadline;
use std::sync::Arc;

impl Runtime {
    /// Returns the virtual interface bindings by which clients in a context reach this process.
    /// Opens an endpoint if there is none.
    pub(crate) fn vi_ways(&'static self, context: Context, endpoint: &str) -> Result<Vec<StringBinding>> {
        self.serve()?;
        if context == Context::Local {
            return Ok(vec![local_binding(endpoint_of(self.oxid()))]);
        }
        if let Some(process) = destination() {
            // The endpoints by which the destination calls back are opened as for any other
            // reference. The virtual interfaces are opened in addition.
            self.bindings_for(Client::Process(process));
        }
        self.exporter.listen_over_vi(endpoint)?;
        // If the destination reaches this process by no binding, the result is empty.
        let bindings = self.bindings_there(context).unwrap_or_default();
        // The greatest level of any listener applies to all bindings.
        let least = self.network().bindings(None).iter().filter_map(level_of).max();
        let ways = in_order(&bindings).filter(|binding| is_vi(binding)).cloned();
        Ok(ways.filter_map(|way| protected(way, least)).collect())
    }

    /// Returns the link to the process of a reference. The virtual interface bindings `ways` are
    /// tried first, then the reference's own bindings, by [`Self::link_to`]. All attempts share one
    /// deadline.
    pub(super) fn link_by(&'static self, reference: &ObjRef, ways: &DualStringArray) -> Result<Arc<Link>> {
        let (oxid, deadline) = (reference.oxid, deadline::of_thread().start());
        // A client whose calls are protected uses no binding with less protection.
        let own = self.links.local_to(oxid).and_then(|(_, level)| level);
        let least = reference.bindings.iter().filter_map(level_of).max().max(own);
        let ways = ways.string_bindings().filter(is_vi).filter_map(|way| protected(way, least));
        let ways: Vec<_> = ways.collect();
        if !ways.is_empty() && !self.detours.has(oxid) {
            let limit = share_of(deadline.remaining());
            match deadline::with(Deadline::Within(limit).start(), || self.link_to(oxid, &ways)) {
                Err(error) if error.code() != code::RPC_E_CALL_CANCELED => {}
                outcome => return outcome,
            }
            // If the attempt had too little time, its failure does not show that the process cannot
            // be reached over virtual interfaces.
            if limit >= ATTEMPT / 2 {
                self.detours.add(oxid);
            }
        }
        deadline::with(deadline, || self.link_to(oxid, &reference.bindings))
    }
}

fn is_vi(binding: &StringBinding) -> bool {
    use ProtocolSequence::{ViFabric, ViShm, ViUdp, ViXdp};
    matches!(binding.protocol, ViShm | ViFabric | ViXdp | ViUdp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::process;
    use crate::types::identity;
    use obvia_rpc::vi_call::TargetId;
    use std::net::{TcpListener, UdpSocket};
    use std::time::Duration;
    use windows_core::GUID;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn virtual_interfaces_and_other_bindings_share_one_deadline() {
        const LIMIT: Duration = Duration::from_secs(4);
        // Both sockets accept messages, and answer none.
        let (datagrams, streams) = (UdpSocket::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
        let at = |protocol: &str, port| format!("{protocol}:127.0.0.1[{port}]").parse::<StringBinding>().unwrap();
        let way = at("ncacn_vi_udp", datagrams.local_addr().unwrap().port());
        let bindings = vec![at("ncacn_ip_tcp", streams.local_addr().unwrap().port())];
        let (target, securities) = (TargetId { index: 1, generation: 1 }, Vec::new());
        let mut reference =
            ObjRef { iid: GUID::zeroed(), public_refs: 0, oxid: 0, oid: 1, target, bindings, securities };
        let ways = DualStringArray::new([&way]);
        let runtime = process::runtime().unwrap();
        ground::takes_less(2 * LIMIT, || {
            reference.oxid = identity::draw().unwrap();
            assert!(deadline::with_timeout(LIMIT, || runtime.link_by(&reference, &ways)).is_err());
        });
        assert!(runtime.detours.has(reference.oxid), "the next attempt begins with the other bindings");
    }
}
