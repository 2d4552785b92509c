//! `IObjectExporter` (MS-DCOM 3.1.2.5.1): this process resolves its own OXID and receives the pings
//! of its objects. If this process is the SCM, it also serves these calls for the other processes
//! of its user.

use super::answers::{answer, request, resolved};
use crate::orpc::object_exporter::{Request, Resolve, Response};
use crate::orpc::{ComVersion, Decoder, DualStringArray, INVALID_OXID, Resolved, TowerBinding};
use crate::runtime::Runtime;
use crate::server::Caller;
use crate::services::scm;
use crate::services::scm::remote::PingSets;
use obvia_rpc::status::Status;
use std::sync::Arc;

/// Performs a call of `IObjectExporter`.
pub(super) fn perform(caller: &Arc<Caller>, opnum: u16, from: &mut Decoder<'_>) -> Result<Vec<u8>, Status> {
    let runtime = Runtime::serving()?;
    let (exports, pings) = (runtime.exports(), PingSets::of(runtime));
    let response = match request(opnum, from)? {
        Request::ResolveOxid(wanted) => Response::ResolveOxid(resolve(runtime, caller, &wanted)),
        Request::ResolveOxid2(wanted) => Response::ResolveOxid2(resolve(runtime, caller, &wanted)),
        Request::SimplePing { set } => {
            let status = if scm::is_for(caller) { pings.simple_ping(caller, set) } else { exports.simple_ping(set) };
            Response::SimplePing(status)
        }
        Request::ComplexPing(ping) => {
            let answer = if scm::is_for(caller) {
                pings.complex_ping(caller, &ping)
            } else {
                exports.complex_ping(&ping, caller.pinger()).map_err(|_| Status::REMOTE_NO_MEMORY)?
            };
            Response::ComplexPing { set: answer.set, backoff: 0, status: answer.status }
        }
        Request::ServerAlive => Response::ServerAlive(Status(0)),
        Request::ServerAlive2 => Response::ServerAlive2(Ok((ComVersion::OURS, own_ways(runtime, caller)))),
    };
    answer(|to| response.write(to))
}

fn resolve(runtime: &Runtime, caller: &Arc<Caller>, wanted: &Resolve) -> Result<Resolved, Status> {
    // Without a common protocol sequence the caller cannot reach this process.
    let is_reachable = |found: &Resolved| !found.bindings.strings.is_empty();
    if wanted.oxid != runtime.oxid() && scm::is_for(caller) {
        return scm::resolve_for(caller, wanted);
    }
    let found = (wanted.oxid == runtime.oxid()).then(|| resolved(runtime, caller, &wanted.protseqs));
    found.filter(is_reachable).ok_or(INVALID_OXID)
}

/// Returns the addresses of the resolver without its endpoint, which is well known (MS-DCOM
/// 3.1.2.5.1.6).
fn own_ways(runtime: &Runtime, caller: &Caller) -> DualStringArray {
    let ways = resolved(runtime, caller, &[]).bindings;
    DualStringArray { strings: ways.strings.iter().map(TowerBinding::without_endpoint).collect(), ..ways }
}
