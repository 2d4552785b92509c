//! The interfaces of DCOM that every process has, and the parts of their answers.

use crate::orpc::{
    Calls, ComVersion, Decoder, DualStringArray, Encoder, Interface, Malformed, Resolved, TowerBinding,
    activator as scm, object_exporter as exporter, rem_unknown as unknown,
};
use crate::protocol::objref::{self, securities};
use crate::runtime::Runtime;
use crate::server::Caller;
use crate::transport::network;
use obvia_rpc::ByteOrder;
use obvia_rpc::security::Level;
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_rpc::vi_call::TargetId;
use windows_core::GUID;

/// An interface that every process has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    ObjectExporter = 1,
    RemUnknown = 2,
    Activation = 3,
    ScmActivator = 4,
}

/// The interfaces that every process has, with their identifiers.
pub(super) const ALL: [(Own, &Interface); 5] = [
    (Own::ObjectExporter, &exporter::INTERFACE),
    (Own::RemUnknown, &unknown::INTERFACE),
    (Own::RemUnknown, &unknown::INTERFACE_2),
    (Own::Activation, &scm::ACTIVATION),
    (Own::ScmActivator, &scm::SCM_ACTIVATOR),
];

impl Own {
    pub(super) fn find(syntax: SyntaxId) -> Option<(Self, &'static Interface)> {
        ALL.into_iter().find(|(_, interface)| syntax == SyntaxId { uuid: Uuid(interface.id.to_u128()), version: 0 })
    }

    /// Returns the target of the interface's calls. Its generation is 0, which no entry of the
    /// object table has. The index is not 0, since that target is for the calls between runtimes.
    pub(super) fn target(self) -> TargetId {
        TargetId { index: self as u32, generation: 0 }
    }
}

/// Returns the IPID of this process's `IRemUnknown`.
pub(super) fn rem_unknown_of(runtime: &Runtime) -> GUID {
    objref::ipid(Own::RemUnknown.target(), runtime.oxid())
}

/// Encodes an answer as stub data.
pub(super) fn answer(write: impl FnOnce(&mut Encoder<'_>)) -> std::result::Result<Vec<u8>, Status> {
    Encoder::encode(ByteOrder::Little, write).map_err(|_: Malformed| Status::REMOTE_NO_MEMORY)
}

/// Decodes a call of one of the interfaces that every process has.
pub(super) fn request<C: Calls>(opnum: u16, from: &mut Decoder<'_>) -> std::result::Result<C, Status> {
    Ok(C::read(opnum, from)?)
}

/// Returns the bindings by which the caller reaches this process, limited to the protocol sequences
/// in `protseqs`. An empty list means all protocol sequences.
pub(super) fn resolved(runtime: &Runtime, caller: &Caller, protseqs: &[u16]) -> Resolved {
    let heard = runtime.bindings_of_caller(Some(caller));
    // Bindings for datagrams are left out: clients that are not obvia processes no longer use them,
    // but some would prefer them if they were offered.
    let usable = |protocol: ProtocolSequence| {
        protocol != ProtocolSequence::IpUdp && (protseqs.is_empty() || protseqs.contains(&protocol.tower()))
    };
    let strings = heard.iter().filter(|binding| usable(binding.protocol)).map(tower_of).collect();
    // The hint is no lower than the caller's own level. Some clients take the hint as their level,
    // and would otherwise continue anonymously after authenticating.
    let own = caller.authenticated().map(|caller| caller.level);
    let level = heard.iter().filter_map(network::level_of).max().max(own);
    Resolved {
        bindings: DualStringArray { strings, securities: securities() },
        rem_unknown: rem_unknown_of(runtime),
        authn_hint: authn_hint(level),
        version: ComVersion::OURS,
    }
}

/// Returns the authentication hint for a level (MS-RPCE 2.2.1.1.8); for `None`,
/// RPC_C_AUTHN_LEVEL_NONE.
fn authn_hint(level: Option<Level>) -> u32 {
    level.map_or(1, |level| level as u32)
}

/// Returns a binding in the form for clients that are not obvia processes. Over TCP the options are
/// omitted, as the security bindings replace them.
pub(crate) fn tower_of(binding: &StringBinding) -> TowerBinding {
    let options = if binding.protocol == ProtocolSequence::IpTcp { Vec::new() } else { binding.options.clone() };
    TowerBinding::from(&StringBinding { options, object: None, ..binding.clone() })
}
