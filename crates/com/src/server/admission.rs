//! The rules for the calls of an association.

use super::exporter::Exporter;
use crate::access::Caller;
use crate::types::threads::lock;
use obvia_rpc::security::Authenticated;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::TargetId;
use obvia_via::window::Peer;
use std::collections::HashMap;
use std::sync::Mutex;

/// For each target, the last check by which a call over an association was permitted. Thus the
/// access rules are not evaluated for each call.
#[derive(Default)]
pub(crate) struct Admitted(Mutex<HashMap<TargetId, Verdict>>);

#[derive(PartialEq, Eq)]
struct Verdict {
    maker: Option<Authenticated>,
    /// The version of the rules: the number of their changes.
    recalls: u64,
}

/// The greatest number of targets that are remembered for an association.
const ADMITTED_MAX: usize = 1024;

impl Admitted {
    /// Verifies that the principal of a call may make the call.
    ///
    /// # Errors
    ///
    /// As for [`crate::access::Rules::admit`].
    pub(crate) fn admit(
        &self,
        exporter: &Exporter,
        (target, opnum): (TargetId, u16),
        maker: Option<&Authenticated>,
        peer: &Peer,
    ) -> std::result::Result<(), Status> {
        // The runtime's own targets are open to every caller.
        if !exporter.rules().is_used() || target.generation == 0 {
            return Ok(());
        }
        let verdict = Verdict { maker: maker.cloned(), recalls: exporter.exports().table.recalls() };
        let known = || lock(&self.0);
        if known().get(&target) == Some(&verdict) {
            return Ok(());
        }
        // A missing target is reported when the call is dispatched.
        let Ok(found) = exporter.exports().get(target) else { return Ok(()) };
        let caller = || Caller { peer: peer.clone(), authenticated: maker.cloned() };
        exporter.rules().admit((found.identity, found.interface), opnum, caller)?;
        let mut known = known();
        if known.len() >= ADMITTED_MAX {
            known.clear();
        }
        known.insert(target, verdict);
        Ok(())
    }
}
