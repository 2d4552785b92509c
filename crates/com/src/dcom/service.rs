//! The interfaces of DCOM that every process has, and the calls of them.

use super::{activator, object_exporter, rem_unknown};
use crate::error::code;
use crate::objref::securities;
use crate::orpc::{
    Calls, ComVersion, Decoder, DualStringArray, Encoder, Forwarded, Interface, Malformed, Resolved, TowerBinding,
    activator as scm, object_exporter as exporter, rem_unknown as unknown,
};
use crate::runtime::Runtime;
use crate::server::{Caller, caller};
use crate::stub::{StubCall, results, serve};
use crate::{network, objref, orpc_headers};
use obvia_rpc::ByteOrder;
use obvia_rpc::co::Exemption;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::relay::{Form, Interface as Relayed, octets, put_octets};
use obvia_rpc::security::Level;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_rpc::vi_call::{Answer, ServerCall, TargetId};
use std::sync::Arc;
use windows_core::GUID;

/// An interface that every process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Own {
    ObjectExporter = 1,
    RemUnknown = 2,
    Activation = 3,
    ScmActivator = 4,
}

/// The interfaces that every process has, with their identifiers.
const ALL: [(Own, &Interface); 5] = [
    (Own::ObjectExporter, &exporter::INTERFACE),
    (Own::RemUnknown, &unknown::INTERFACE),
    (Own::RemUnknown, &unknown::INTERFACE_2),
    (Own::Activation, &scm::ACTIVATION),
    (Own::ScmActivator, &scm::SCM_ACTIVATOR),
];

/// Stub data that handwritten code marshals.
const OCTETS: Relayed = Relayed { form: Form::Octets, objects: None };

impl Own {
    fn find(syntax: SyntaxId) -> Option<(Self, &'static Interface)> {
        ALL.into_iter().find(|(_, interface)| syntax == SyntaxId { uuid: Uuid(interface.id.to_u128()), version: 0 })
    }

    /// Returns the target of the interface's calls. Entries of the object table never have
    /// generation 0, and index 0 is the runtime's.
    fn target(self) -> TargetId {
        TargetId { index: self as u32, generation: 0 }
    }
}

/// Returns the outcome of a presentation context for one of these interfaces; `None` for all
/// others.
pub(crate) fn judge(context: &Context) -> Option<Outcome> {
    Own::find(context.interface).map(|_| Outcome::choose(context, &[NDR]))
}

/// Returns the interfaces and methods whose least level differs from that of all other calls.
/// ServerAlive and ServerAlive2 are answered at any level, as clients learn from them how to
/// authenticate (MS-DCOM 3.1.2.5.1.6, 3.2.4.1.1.1). Pings are exempt where no level is required,
/// since some clients ping with authentication that fails. Activation has a level of its own, if
/// one is given.
pub(crate) fn exemptions(least: Option<Level>, activation: Option<Option<Level>>) -> Vec<Exemption> {
    let exemption = |interface: &Interface, opnums, least| {
        let interface = SyntaxId { uuid: Uuid(interface.id.to_u128()), version: 0 };
        Exemption { interface, opnums, least }
    };
    let opnums: &[u16] = if least.is_some() { &exporter::SERVER_ALIVE } else { &[] };
    let mut exemptions = vec![exemption(&exporter::INTERFACE, opnums, None)];
    if let Some(least) = activation {
        exemptions.extend([&scm::ACTIVATION, &scm::SCM_ACTIVATOR].map(|it| exemption(it, &[], least)));
    }
    exemptions
}

/// Returns the target of a call of one of these interfaces; `None` for all other interfaces.
pub(crate) fn find(
    runtime: &Runtime,
    object: Option<Uuid>,
    syntax: SyntaxId,
) -> Option<std::result::Result<(TargetId, Relayed), Status>> {
    let (own, interface) = Own::find(syntax)?;
    let wanted = interface.has_objects.then(|| Uuid(rem_unknown_of(runtime).to_u128()));
    Some(if wanted.is_none() || wanted == object { Ok((own.target(), OCTETS)) } else { Err(Status::OBJECT_NOT_FOUND) })
}

/// Returns the IPID of this process's `IRemUnknown`.
fn rem_unknown_of(runtime: &Runtime) -> GUID {
    objref::ipid(Own::RemUnknown.target(), runtime.oxid())
}

/// Performs a call of one of these interfaces.
pub(crate) fn perform(call: &mut ServerCall<'_>) -> Answer {
    let (target, opnum) = (TargetId::from_word(call.target()), call.opnum());
    let method = |call: &mut StubCall<'_, '_>| {
        let caller = caller().ok_or(Status::PROTOCOL_ERROR)?;
        let frame = call.frame(0)?;
        let mut request = vec![0; frame.len()];
        frame.copy_to(0, &mut request).ok_or(Status::BAD_STUB_DATA)?;
        let (order, stub) = octets(&request).ok_or(Status::BAD_STUB_DATA)?;
        let from = &mut Decoder::new(stub, order);
        let answered = match target {
            _ if target == Own::ObjectExporter.target() => object_exporter::perform(&caller, opnum, from),
            _ if target == Own::RemUnknown.target() => rem_unknown::perform(&caller, opnum, from),
            _ if target == Own::Activation.target() => activator::activate(&caller, opnum, from),
            _ if target == Own::ScmActivator.target() => activator::perform(&caller, opnum, from),
            _ => Err(Status::OBJECT_NOT_FOUND),
        };
        orpc_headers::leave();
        let answer = answered?;
        let mut frame = Vec::new();
        put_octets(ByteOrder::Little, &answer, &mut frame);
        call.inner().reply(frame.len(), 0).map_err(|_| Status::REMOTE_NO_MEMORY)?.copy_from_slice(&frame);
        Ok(results(code::S_OK, frame.len()))
    };
    serve(call, method)
}

/// Performs a call of one of these interfaces that the SCM forwards for its client.
pub(crate) fn perform_forwarded(caller: &Arc<Caller>, call: &Forwarded) -> std::result::Result<Vec<u8>, Status> {
    let (own, _) = ALL.into_iter().find(|(_, known)| known.id == call.interface).ok_or(Status::UNK_IF)?;
    let heard: StringBinding = call.heard.parse().map_err(|_| Status::BAD_STUB_DATA)?;
    let client = caller.behind(call, heard);
    caller.act_for(&client, || {
        let from = &mut Decoder::new(&call.stub, ByteOrder::Little);
        let answered = match own {
            Own::ObjectExporter => object_exporter::perform(&client, call.opnum, from),
            Own::Activation => activator::activate(&client, call.opnum, from),
            // Clients call these interfaces directly.
            Own::RemUnknown | Own::ScmActivator => Err(Status::UNK_IF),
        };
        orpc_headers::leave();
        if answered.is_err() {
            client.take_back();
        }
        answered
    })
}

/// Encodes an answer as stub data.
pub(super) fn answer(write: impl FnOnce(&mut Encoder<'_>)) -> std::result::Result<Vec<u8>, Status> {
    Encoder::encode(ByteOrder::Little, write).map_err(|_: Malformed| Status::REMOTE_NO_MEMORY)
}

/// Decodes a call of one of these interfaces.
pub(super) fn request<C: Calls>(opnum: u16, from: &mut Decoder<'_>) -> std::result::Result<C, Status> {
    Ok(C::read(opnum, from)?)
}

/// Returns the bindings of this process for its caller, limited to these protocol sequences; an
/// empty list means all.
pub(super) fn resolved(caller: &Arc<Caller>, protseqs: &[u16]) -> Resolved {
    let runtime = caller.runtime;
    let heard = runtime.heard_by(Some(caller));
    // Clients that are no obvia processes no longer use datagrams, and some would prefer them where
    // they are offered.
    let usable = |protocol: ProtocolSequence| {
        protocol != ProtocolSequence::IpUdp && (protseqs.is_empty() || protseqs.contains(&protocol.tower()))
    };
    let strings = heard.iter().filter(|binding| usable(binding.protocol)).map(tower_of).collect();
    // Some clients use the hint as their own level, and would continue anonymously after
    // authenticating.
    let own = caller.authenticated().map(|caller| caller.level);
    let level = heard.iter().filter_map(network::level_of).max().max(own);
    Resolved {
        bindings: DualStringArray { strings, securities: securities() },
        rem_unknown: rem_unknown_of(runtime),
        authn_hint: authn_hint(level),
        version: ComVersion::OURS,
    }
}

/// Returns the authentication hint: RPC_C_AUTHN_LEVEL_NONE, or the least level of calls (MS-RPCE
/// 2.2.1.1.8).
fn authn_hint(level: Option<Level>) -> u32 {
    level.map_or(1, |level| level as u32)
}

/// Returns a binding in the form for clients that are no obvia processes. Over TCP the options are
/// omitted, as the security bindings replace them.
pub(crate) fn tower_of(binding: &StringBinding) -> TowerBinding {
    let options = if binding.protocol == ProtocolSequence::IpTcp { Vec::new() } else { binding.options.clone() };
    TowerBinding::from(&StringBinding { options, object: None, ..binding.clone() })
}
