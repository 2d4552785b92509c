//! Binding: the negotiation of two processes before the first call, with standard PDUs (C706
//! 12.6.4).
//!
//! Every connection begins with a bind. The first presentation context is the runtime's interface.
//! The second context names the client process in the lower half of a UUID. The server accepts this
//! context with the result "negotiated" and a "transfer syntax" that names the server's own
//! process.
//!
//! A client that proves a mark asks for a challenge first. The request for the challenge is a
//! further transfer syntax of the second context. In its answer, the server names the challenge
//! instead of its own process. The client then names its process in an alter_context, with its
//! [`MarkProof`] as a further transfer syntax. A server that accepts the proof answers with the
//! confirmation.
//!
//! Interfaces follow in alter_context PDUs, each once for a link: a context proposes FLAT and, as
//! one more transfer syntax, the fingerprint of the interface. The server accepts FLAT if its own
//! fingerprint is the same, and otherwise refuses with its own fingerprint in the answer. A server
//! that is not an obvia process knows neither FLAT nor the fingerprint, and refuses by the rules of
//! the standard. Over a stream, standard transfer syntaxes are proposed as well.

use super::mark_proof::MarkProof;
use crate::types::error::{Error, Result, code};
use crate::types::identity::endpoint_of;
use crate::types::registry::{self, InterfaceInfo};
use obvia_rpc::co::pdu::{
    ACCEPTED, Bind, BindAck, BindNak, Context, FragmentSizes, LIMIT_EXCEEDED, NEGOTIATED, NO_TRANSFER_SYNTAX, Outcome,
    PduError, PduType, UNKNOWN_INTERFACE, Unit,
};
use obvia_rpc::uuid::{FLAT, NDR, NDR64, SyntaxId, Uuid};
use obvia_rpc::vi_call::Channel;
use obvia_via::Deadline;
use windows_core::{GUID, IUnknown, Interface};

/// The runtime's own interface: see [`super::own_calls`].
pub(crate) const RUNTIME: SyntaxId = SyntaxId { uuid: Uuid(0x4be1_0c7a_93d5_4f26_8e0b_6a17_d2c4_f358), version: 1 };
/// The upper half of a UUID that names a process. The lower half is the OXID of the process.
const PROCESS: u128 = 0x9d27_5e0f_14c3_4ab6 << 64;
/// The version of a "transfer syntax" whose UUID is a fingerprint.
const FINGERPRINT_VERSION: u32 = 0x4650_0001;
/// The version of the interface that names a process.
const PROCESS_VERSION: u32 = 1;
/// The version of a "transfer syntax" whose UUID is a challenge, or the request for a challenge.
const CHALLENGE_VERSION: u32 = 0x4d43_0001;
/// The version of a "transfer syntax" whose UUID is the proof of a mark or its confirmation.
const PROOF_VERSION: u32 = 0x4d50_0002;
/// The fragment sizes in PDUs: the greatest possible sizes, since a PDU travels as one frame and is
/// not fragmented.
const SIZES: FragmentSizes = FragmentSizes::GREATEST;

/// The transfer syntaxes of calls, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfers(&'static [SyntaxId]);

impl Transfers {
    /// FLAT alone, for connections in memory.
    pub(crate) const FLAT: Self = Self(&[FLAT]);

    /// NDR alone, for calls whose transfer syntax is not negotiated.
    pub(crate) const NDR: Self = Self(&[NDR]);

    /// All transfer syntaxes. Calls in NDR64 are longer than calls in NDR, and no faster.
    const ALL: Self = Self(&[FLAT, NDR, NDR64]);
    /// The names that [`Self::named`] accepts.
    pub(crate) const NAMES: &str = "flat, ndr, ndr64";

    /// Returns the transfer syntaxes of a binding's option; an empty name means all.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "" => Some(Self::ALL),
            "flat" => Some(Self::FLAT),
            "ndr" => Some(Self::NDR),
            "ndr64" => Some(Self(&[NDR64])),
            _ => None,
        }
    }

    /// Returns the transfer syntaxes that a context proposes: those in `self` that the interface
    /// supports, and the interface's fingerprint. The runtime's own interface (`None`) supports
    /// FLAT alone and has no fingerprint.
    pub(crate) fn proposed(self, info: Option<&InterfaceInfo>) -> Vec<SyntaxId> {
        let has_plan = info.is_some_and(|info| !info.ndr.is_empty());
        let usable = self.0.iter().copied().filter(|transfer| *transfer == FLAT || has_plan);
        usable.chain(info.map(|info| fingerprint(info.fingerprint))).collect()
    }

    /// Accepts or refuses a context that a client proposes.
    fn judge(self, context: &Context) -> Outcome {
        let iid = GUID::from_u128(context.interface.uuid.0);
        // IUnknown needs no comparison of fingerprints, since its methods are the same in all
        // processes.
        if context.interface == RUNTIME || iid == IUnknown::IID {
            return Outcome::choose(context, Self::FLAT.0);
        }
        let Ok(info) = registry::find(&iid) else {
            return Outcome::refused(UNKNOWN_INTERFACE);
        };
        let own = fingerprint(info.fingerprint);
        let is_said = context.transfers.iter().any(|transfer| transfer.version == FINGERPRINT_VERSION);
        let is_same = context.transfers.contains(&own);
        // A client that is not an obvia process proposes no fingerprint. For such a client, only
        // the versions of the interface are compared.
        if !is_said && !is_compatible(info, context.interface.version) {
            return Outcome::refused(UNKNOWN_INTERFACE);
        }
        if is_said && !is_same {
            return Outcome { transfer: own, ..Outcome::refused(NO_TRANSFER_SYNTAX) };
        }
        // ORPC's own structures are in NDR 2.0 (MS-DCOM 2.2). Some clients that are not obvia
        // processes therefore support only NDR 2.0 in calls of objects. Clients that are not obvia
        // processes get NDR64 for plain interfaces only.
        let has_ndr64 = is_same || info.plain;
        let usable = |transfer: &&SyntaxId| match **transfer {
            FLAT => is_same,
            NDR64 => has_ndr64 && !info.ndr.is_empty(),
            _ => !info.ndr.is_empty(),
        };
        Outcome::choose(context, &self.0.iter().filter(usable).copied().collect::<Vec<_>>())
    }
}

/// Whether this process's version of an interface serves a client that wants the version `wanted`
/// (C706 4.2.4.5).
fn is_compatible(info: &InterfaceInfo, wanted: u32) -> bool {
    let (major, minor) = info.version;
    major == wanted as u16 && minor >= (wanted >> 16) as u16
}

/// Returns the syntax identifier of an interface in contexts.
pub(crate) fn syntax_of(info: &InterfaceInfo) -> SyntaxId {
    let (major, minor) = info.version;
    SyntaxId { uuid: Uuid(info.iid.to_u128()), version: u32::from(major) | u32::from(minor) << 16 }
}

const fn fingerprint(value: u128) -> SyntaxId {
    SyntaxId { uuid: Uuid(value), version: FINGERPRINT_VERSION }
}

fn malformed(error: PduError) -> Error {
    Error::new(code::RPC_E_INVALID_DATA, format!("the response to the bind is malformed: {error}"))
}

fn exchange(channel: &mut Channel, bind: &Bind, deadline: Deadline) -> Result<BindAck> {
    let answer = channel.exchange_pdu(&bind.to_wire(), deadline)?;
    if Unit::whole(&answer).is_ok_and(|unit| unit.header.kind == PduType::BIND_NAK) {
        let text = "the server refused this process; its binding may require authentication: add [,security=connect]";
        return Err(Error::new(code::E_ACCESSDENIED, text));
    }
    let ack = BindAck::from_wire(&answer).map_err(malformed)?;
    if ack.call_id != bind.call_id || ack.alters != bind.alters || ack.outcomes.len() != bind.contexts.len() {
        return Err(Error::new(
            code::RPC_E_INVALID_DATA,
            "the server's response does not belong to this connection's bind",
        ));
    }
    Ok(ack)
}

/// Returns the syntax identifier that names a process in presentation contexts.
const fn process(oxid: u64) -> SyntaxId {
    SyntaxId { uuid: Uuid(PROCESS | oxid as u128), version: PROCESS_VERSION }
}

/// Returns the OXID of the process that a context names.
fn process_of(syntax: SyntaxId) -> Option<u64> {
    let is_one = syntax.version == PROCESS_VERSION && syntax.uuid.0 >> 64 == PROCESS >> 64;
    is_one.then_some(syntax.uuid.0 as u64)
}

/// The answer to an introduction, as the client receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Welcome {
    /// The OXID that the server claims.
    Process(u64),
    /// The server knows the mark's key, and accepts the client as the process to which the mark
    /// belongs.
    Confirmed,
}

/// Introduces this process to the peer, and returns the peer's OXID.
pub(crate) fn introduce(channel: &mut Channel, oxid: u64, deadline: Deadline) -> Result<u64> {
    server_in(greet(channel, oxid, None, false, deadline)?)
}

/// Introduces this process to the peer with the proof of a mark, which `prove` makes for a
/// challenge.
pub(crate) fn introduce_with(
    channel: &mut Channel,
    oxid: u64,
    prove: impl FnOnce(u128) -> MarkProof,
    deadline: Deadline,
) -> Result<Welcome> {
    let deadline = deadline.start();
    let answer = greet(channel, oxid, Some(challenge_syntax(0)), false, deadline)?;
    if answer.version != CHALLENGE_VERSION {
        return server_in(answer).map(Welcome::Process);
    }
    let proof = prove(answer.uuid.0);
    let answer = greet(channel, oxid, Some(proof_syntax(proof.code)), true, deadline)?;
    if answer == proof_syntax(proof.confirmation) {
        return Ok(Welcome::Confirmed);
    }
    server_in(answer).map(Welcome::Process)
}

/// Sends an introduction with a further transfer syntax, in an alter_context if `alters` is true.
/// Returns the transfer syntax with which the server answers.
fn greet(
    channel: &mut Channel,
    oxid: u64,
    further: Option<SyntaxId>,
    alters: bool,
    deadline: Deadline,
) -> Result<SyntaxId> {
    let context = |id, interface| Context { id, interface, transfers: vec![FLAT] };
    let mut own = context(1, process(oxid));
    own.transfers.extend(further);
    let contexts = if alters { vec![own] } else { vec![context(0, RUNTIME), own] };
    let call_id = 1 + u32::from(alters);
    let ack = exchange(channel, &Bind { alters, flags: 0, call_id, sizes: SIZES, group: 0, contexts }, deadline)?;
    transfer_in(&ack.outcomes)
}

/// Returns the transfer syntax with which a server accepts an introduction. The introduction is the
/// last context of the PDU, so its outcome is the last one.
fn transfer_in(outcomes: &[Outcome]) -> Result<SyntaxId> {
    let (own, others) = outcomes.split_last().ok_or(code::RPC_E_INVALID_DATA)?;
    let is_version_known = others.iter().all(|runtime| runtime.result == ACCEPTED);
    let (code, text) = match (own.result, own.reason) {
        (NEGOTIATED, _) if is_version_known => return Ok(own.transfer),
        (NEGOTIATED, _) | (_, UNKNOWN_INTERFACE | NO_TRANSFER_SYNTAX) => {
            (code::RPC_E_VERSION_MISMATCH, "the server speaks another version of the runtime's protocol")
        }
        (_, LIMIT_EXCEEDED) => {
            (code::E_OUTOFMEMORY, "too many clients claim the identity of this process at the server")
        }
        _ => {
            let text = "the server did not accept the identity of this process: it could not verify the identity, or \
                        this connection already has another one; connect again";
            (code::E_ACCESSDENIED, text)
        }
    };
    Err(Error::new(code, text))
}

/// Returns the OXID of the server in its answer to an introduction.
fn server_in(answer: SyntaxId) -> Result<u64> {
    let unknown = || Error::new(code::RPC_E_INVALID_DATA, "the server did not identify its process");
    process_of(answer).ok_or_else(unknown)
}

/// Returns the "transfer syntax" for a challenge. The challenge 0 requests a challenge.
const fn challenge_syntax(challenge: u128) -> SyntaxId {
    SyntaxId { uuid: Uuid(challenge), version: CHALLENGE_VERSION }
}

/// Returns the "transfer syntax" for a proof's code.
const fn proof_syntax(code: u128) -> SyntaxId {
    SyntaxId { uuid: Uuid(code), version: PROOF_VERSION }
}

/// The introduction of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// The OXID that the client claims.
    pub(crate) oxid: u64,
    /// Whether the client asks for a challenge, and introduces itself only afterwards.
    pub(crate) asks: bool,
    /// The code of the client's [`MarkProof`], if any.
    pub(crate) proof: Option<u128>,
}

impl Introduction {
    /// Returns the introduction of the client in a context, if the context contains one.
    pub(crate) fn in_context(context: &Context) -> Option<Self> {
        let oxid = process_of(context.interface)?;
        let with = |version| context.transfers.iter().find(|transfer| transfer.version == version);
        let asks = with(CHALLENGE_VERSION).is_some();
        Some(Self { oxid, asks, proof: with(PROOF_VERSION).map(|transfer| transfer.uuid.0) })
    }

    /// Returns the first introduction in a bind or alter_context.
    pub(crate) fn in_bind(bytes: &[u8]) -> Option<Self> {
        let bind = Bind::from_wire(bytes).ok()?;
        bind.contexts.iter().find_map(Self::in_context)
    }
}

/// The answer of a server to an introduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Greeting {
    /// The acceptance, which names the server's own process.
    Process,
    /// The challenge for which the client makes its proof.
    Challenge(u128),
    /// The confirmation of the client's proof.
    Confirmed(u128),
    /// The refusal of the introduction, with its reason code.
    Refused(u16),
}

impl Greeting {
    fn outcome(self, own: u64) -> Outcome {
        let transfer = match self {
            Self::Process => process(own),
            Self::Challenge(challenge) => challenge_syntax(challenge),
            Self::Confirmed(confirmation) => proof_syntax(confirmation),
            Self::Refused(reason) => return Outcome::refused(reason),
        };
        Outcome { transfer, ..Outcome::negotiated(0) }
    }
}

/// Proposes a context for an interface to the server, and verifies that both processes have the
/// same description of the interface.
pub(crate) fn alter(
    channel: &mut Channel,
    info: &InterfaceInfo,
    transfers: Transfers,
    deadline: Deadline,
) -> Result<()> {
    let contexts = vec![Context { id: 2, interface: syntax_of(info), transfers: transfers.proposed(Some(info)) }];
    let ack =
        exchange(channel, &Bind { alters: true, flags: 0, call_id: 2, sizes: SIZES, group: 0, contexts }, deadline)?;
    let outcome = ack.outcomes[0];
    match (outcome.result, outcome.reason) {
        (ACCEPTED, _) => Ok(()),
        (_, UNKNOWN_INTERFACE) => {
            let text = format!("the server does not know interface {} {{{:?}}}", info.name, info.iid);
            Err(Error::new(code::E_NOINTERFACE, text))
        }
        _ => Err(differs(info, outcome.transfer)),
    }
}

fn differs(info: &InterfaceInfo, theirs: SyntaxId) -> Error {
    let there =
        if theirs.version == FINGERPRINT_VERSION { format!("{:032x}", theirs.uuid.0) } else { "none".to_owned() };
    let text = format!(
        "interface {} differs between client and server (fingerprint {:032x} here, {there} there); an interface does not \
         change once it is in use: give the new one a new uuid, or build both sides from the same IDL",
        info.name, info.fingerprint
    );
    Error::new(code::RPC_E_VERSION_MISMATCH, text)
}

/// Returns a server's answer to a bind or alter_context; `None` for any other PDU. `greeting` is
/// the answer to an introduction in the PDU.
pub(crate) fn answer(bytes: &[u8], own: u64, transfers: Transfers, greeting: Greeting) -> Option<Vec<u8>> {
    let bind = Bind::from_wire(bytes).ok()?;
    let outcomes = bind.contexts.iter().map(|context| judge(context, own, transfers, greeting)).collect();
    // The association group identifies this process. Its number is made from the OXID and is never
    // 0.
    let (group, secondary_address) = (own as u32 | 1, endpoint_of(own));
    let Bind { alters, call_id, .. } = bind;
    let ack = BindAck { alters, flags: 0, call_id, sizes: SIZES, group, secondary_address, outcomes };
    Some(ack.to_wire())
}

/// Returns a server's refusal of a client's bind. `None` for any other PDU.
pub(crate) fn refusal(bytes: &[u8]) -> Option<Vec<u8>> {
    let Bind { call_id, .. } = Bind::from_wire(bytes).ok()?;
    let mut refusal = Vec::new();
    BindNak::new(call_id, BindNak::NOT_SPECIFIED).write(&mut refusal);
    Some(refusal)
}

/// Returns the outcome of a context that a client proposes. `greeting` is the answer to a context
/// that introduces the client process.
pub(crate) fn judge(context: &Context, own: u64, transfers: Transfers, greeting: Greeting) -> Outcome {
    match process_of(context.interface) {
        Some(_) => greeting.outcome(own),
        None => transfers.judge(context),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_introduction_is_reported_with_its_reason() {
        let accepted = Outcome { result: ACCEPTED, ..Outcome::negotiated(0) };
        let refusal = |last| transfer_in(&[accepted, last]).unwrap_err().code();
        for reason in [UNKNOWN_INTERFACE, NO_TRANSFER_SYNTAX] {
            assert_eq!(refusal(Outcome::refused(reason)), code::RPC_E_VERSION_MISMATCH);
        }
        assert_eq!(refusal(Outcome::refused(LIMIT_EXCEEDED)), code::E_OUTOFMEMORY);
        // A server that cannot draw a random number for the challenge refuses with reason code 0.
        let no_challenge = Greeting::Refused(0).outcome(1);
        assert_eq!(refusal(no_challenge), code::E_ACCESSDENIED);
        let other_version = [Outcome::refused(UNKNOWN_INTERFACE), Outcome::negotiated(0)];
        assert_eq!(transfer_in(&other_version).unwrap_err().code(), code::RPC_E_VERSION_MISMATCH);
        assert!(transfer_in(&[accepted, Greeting::Process.outcome(1)]).is_ok());
    }
}
