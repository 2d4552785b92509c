//! The interfaces of DCOM that every process has, and the dispatch of their calls.

use super::answers::{ALL, Own, rem_unknown_of};
use super::{activator, object_exporter, rem_unknown};
use crate::orpc::rem_unknown::RELEASE;
use crate::orpc::{Decoder, Forwarded, Interface, activator as scm, object_exporter as exporter};
use crate::protocol::orpc_headers;
use crate::runtime::Runtime;
use crate::server::own_call::{frame, results, serve};
use crate::server::{Caller, caller};
use crate::types::error::code;
use obvia_rpc::ByteOrder;
use obvia_rpc::co::Exemption;
use obvia_rpc::co::pdu::{Context, Outcome};
use obvia_rpc::co::relay::{Form, Interface as Relayed, octets, put_octets};
use obvia_rpc::security::Level;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_rpc::vi_call::{Answer, ServerCall, TargetId};
use std::sync::Arc;

/// The relayed form of calls whose stub data is marshaled by handwritten code.
const OCTETS: Relayed = Relayed { form: Form::Octets, objects: None };

/// Returns the outcome of a presentation context for one of the interfaces in [`ALL`]; `None` for
/// all other interfaces.
pub(crate) fn judge(context: &Context) -> Option<Outcome> {
    Own::find(context.interface).map(|_| Outcome::choose(context, &[NDR]))
}

/// Returns the interfaces and methods whose least authentication level differs from that of all
/// other calls.
///
/// If a level is required, ServerAlive and ServerAlive2 are exempt, as clients learn from them how
/// to authenticate (MS-DCOM 3.1.2.5.1.6, 3.2.4.1.1.1). If none is required, all methods of
/// IObjectExporter are exempt, since some clients ping with authentication that fails. `activation`
/// is the level of activation calls, if it differs.
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

/// Returns the target of a call of one of the interfaces in [`ALL`]; `None` for all other
/// interfaces.
pub(crate) fn find(
    runtime: &Runtime,
    object: Option<Uuid>,
    syntax: SyntaxId,
) -> Option<std::result::Result<(TargetId, Relayed), Status>> {
    let (own, interface) = Own::find(syntax)?;
    let wanted = interface.has_objects.then(|| Uuid(rem_unknown_of(runtime).to_u128()));
    Some(if wanted.is_none() || wanted == object { Ok((own.target(), OCTETS)) } else { Err(Status::OBJECT_NOT_FOUND) })
}

/// Performs a call of one of the interfaces in [`ALL`].
pub(crate) fn perform(call: &mut ServerCall<'_>) -> Answer {
    let (target, opnum) = (TargetId::from_word(call.target()), call.opnum());
    let method = |call: &mut ServerCall<'_>| {
        let caller = caller().ok_or(Status::PROTOCOL_ERROR)?;
        let frame = frame(call, 0)?;
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
        call.reply(frame.len(), 0).map_err(|_| Status::REMOTE_NO_MEMORY)?.copy_from_slice(&frame);
        Ok(results(code::S_OK, frame.len()))
    };
    serve(call, method)
}

/// Performs a call of one of the interfaces in [`ALL`] that the SCM forwards for its client.
pub(crate) fn perform_forwarded(caller: &Arc<Caller>, call: &Forwarded) -> std::result::Result<Vec<u8>, Status> {
    let (own, _) = ALL.into_iter().find(|(_, known)| known.id == call.interface).ok_or(Status::UNK_IF)?;
    let heard: StringBinding = call.heard.parse().map_err(|_| Status::BAD_STUB_DATA)?;
    let client = caller.forwarded(call, heard);
    caller.act_for(&client, || {
        let from = &mut Decoder::new(&call.stub, ByteOrder::Little);
        let answered = match own {
            Own::ObjectExporter => object_exporter::perform(&client, call.opnum, from),
            Own::Activation => activator::activate(&client, call.opnum, from),
            // By this call the SCM gives back references that its client did not receive.
            Own::RemUnknown if call.opnum == RELEASE => rem_unknown::perform(&client, call.opnum, from),
            Own::RemUnknown => Err(Status::OP_RNG_ERROR),
            // The SCM itself performs the calls of this interface, so they are never forwarded.
            Own::ScmActivator => Err(Status::UNK_IF),
        };
        orpc_headers::leave();
        match answered {
            // The references in the answer become references in the response to the SCM. If the SCM
            // gives up the call, they are taken back.
            Ok(_) => caller.answer_for(&client),
            Err(_) => client.take_back(),
        }
        answered
    })
}
