//! `IObjectExporter` (MS-DCOM 3.1.2.5.1): this process resolves its own OXID, and its objects are pinged here; where it is the host's service,
//! those of its user's other processes, too.

use super::{answer, request, resolved};
use crate::orpc::object_exporter::{Request, Resolve, Response};
use crate::orpc::{ComVersion, Decoder, DualStringArray, INVALID_OXID, Resolved, TowerBinding};
use crate::server::Caller;
use crate::{runtime, scm};
use obvia_rpc::epm;
use obvia_rpc::status::Status;
use std::sync::Arc;

/// Performs a call.
pub(super) fn perform(caller: &Arc<Caller>, opnum: u16, from: &mut Decoder<'_>) -> Result<Vec<u8>, Status> {
    let (exports, pings) = (caller.runtime.exports(), caller.runtime.starter().pings());
    let response = match request(opnum, from)? {
        Request::ResolveOxid(wanted) => Response::ResolveOxid(resolve(caller, &wanted)),
        Request::ResolveOxid2(wanted) => Response::ResolveOxid2(resolve(caller, &wanted)),
        Request::SimplePing { set } => {
            let status = if scm::is_for(caller) { pings.simple_ping(caller, set) } else { exports.simple_ping(set) };
            Response::SimplePing(status)
        }
        Request::ComplexPing(ping) => {
            let answer = if scm::is_for(caller) {
                pings.complex_ping(caller, &ping)
            } else {
                let fresh = runtime::draw_set().map_err(|_| Status::REMOTE_NO_MEMORY)?;
                exports.complex_ping(&ping, caller.holder(), fresh)
            };
            Response::ComplexPing { set: answer.set, backoff: 0, status: answer.status }
        }
        Request::ServerAlive => Response::ServerAlive(Status(0)),
        Request::ServerAlive2 => Response::ServerAlive2(Ok((ComVersion::OURS, own_ways(caller)))),
    };
    answer(|to| response.write(to))
}

fn resolve(caller: &Arc<Caller>, wanted: &Resolve) -> Result<Resolved, Status> {
    // Whoever names no protocol sequence has none.
    let is_reachable = |found: &Resolved| !found.bindings.strings.is_empty();
    if wanted.oxid != caller.runtime.oxid() && scm::is_for(caller) {
        return scm::resolve_for(caller, wanted);
    }
    let found = (wanted.oxid == caller.runtime.oxid()).then(|| resolved(caller, &wanted.protseqs));
    found.filter(is_reachable).ok_or(INVALID_OXID)
}

/// How the resolver is reached: without endpoint where that is the one that everybody knows.
fn own_ways(caller: &Arc<Caller>) -> DualStringArray {
    let mut ways = resolved(caller, &[]).bindings;
    let everybodys = format!("[{}]", epm::PORT);
    for TowerBinding { address, .. } in &mut ways.strings {
        if let Some(host) = address.strip_suffix(&everybodys) {
            *address = host.to_owned();
        }
    }
    ways
}
