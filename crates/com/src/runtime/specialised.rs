//! Objects that are called over virtual interfaces: the virtual interface bindings of this process
//! and of others.

use super::Runtime;
use super::data::destination;
use super::reach::ATTEMPT;
use crate::client::link::Link;
use crate::orpc::{Client, DualStringArray};
use crate::protocol::objref::ObjRef;
use crate::runtime::marshaling::Context;
use crate::transport::network::{level_of, protected};
use crate::types::deadline;
use crate::types::error::Result;
use crate::types::identity::{endpoint_of, in_order, local_binding};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use std::sync::Arc;

impl Runtime {
    /// Returns the virtual interface bindings of this process for clients in a context. Opens an
    /// endpoint where there is none.
    pub(crate) fn vi_ways(&'static self, context: Context, endpoint: &str) -> Result<Vec<StringBinding>> {
        self.serve()?;
        if context == Context::Local {
            return Ok(vec![local_binding(endpoint_of(self.oxid()))]);
        }
        if let Some(process) = destination() {
            // Opens the endpoints by which the destination calls back, as for any other reference.
            // The virtual interfaces come in addition.
            self.bindings_for(Client::Process(process));
        }
        self.exporter.listen_over_vi(endpoint)?;
        // An error means that there are no such bindings.
        let bindings = self.bindings_there(context).unwrap_or_default();
        // The greatest level of any listener applies to all bindings.
        let least = self.network().bindings(None).iter().filter_map(level_of).max();
        let ways = in_order(&bindings).filter(|binding| is_vi(binding)).cloned();
        Ok(ways.filter_map(|way| protected(way, least)).collect())
    }

    /// Returns the link to the process of a reference: by one of these virtual interface bindings
    /// where possible, otherwise by the reference's own bindings.
    pub(super) fn link_by(&'static self, reference: &ObjRef, ways: &DualStringArray) -> Result<Arc<Link>> {
        let oxid = reference.oxid;
        // A client whose calls are protected uses no binding with less protection.
        let own = self.links.local_to(oxid).and_then(|(_, level)| level);
        let least = reference.bindings.iter().filter_map(level_of).max().max(own);
        let ways = ways.string_bindings().filter(is_vi).filter_map(|way| protected(way, least));
        let ways: Vec<_> = ways.collect();
        if !ways.is_empty() && !self.detours.has(oxid) {
            let limit = deadline::of_thread().start().remaining().min(ATTEMPT);
            if let Ok(link) = deadline::with_timeout(limit, || self.link_to(oxid, &ways)) {
                return Ok(link);
            }
            // A deadline shorter than the limit proves nothing about the process.
            if limit == ATTEMPT {
                self.detours.add(oxid);
            }
        }
        self.link_to(oxid, &reference.bindings)
    }
}

fn is_vi(binding: &StringBinding) -> bool {
    use ProtocolSequence::{ViFabric, ViShm, ViUdp, ViXdp};
    matches!(binding.protocol, ViShm | ViFabric | ViXdp | ViUdp)
}
