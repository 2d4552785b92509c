//! OBJREF: an interface pointer as bytes (MS-DCOM 2.2.18).
//!
//! Standard references only: signature "MEOW", flags 1, IID, STDOBJREF, DUALSTRINGARRAY. The string bindings say how to get to the
//! process that has the object: for shared memory by the name of its endpoint, over networks by host and endpoint.

use crate::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::vi_call::TargetId;
use windows_core::GUID;

/// "MEOW", little endian.
const SIGNATURE: u32 = 0x574f_454d;
/// OBJREF_STANDARD.
const STANDARD: u32 = 1;
/// Bytes before the DUALSTRINGARRAY.
const FIXED: usize = 64;
/// The longest reference that is accepted.
pub(crate) const LENGTH_MAX: usize = 4096;

/// A standard reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjRef {
    /// The interface.
    pub(crate) iid: GUID,
    /// References that travel with it: the receiver has to give them back.
    pub(crate) public_refs: u32,
    /// The process that has the object.
    pub(crate) oxid: u64,
    /// The object.
    pub(crate) oid: u64,
    /// The interface pointer, in the table of that process.
    pub(crate) target: TargetId,
    /// How to get to that process.
    pub(crate) bindings: Vec<StringBinding>,
}

/// IPID: index, generation and OXID, so that it is unique beyond one process.
pub(crate) fn ipid(target: TargetId, oxid: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0..8].copy_from_slice(&target.word().to_le_bytes());
    bytes[8..16].copy_from_slice(&oxid.to_le_bytes());
    bytes
}

/// The interface pointer and the process that an IPID names, if it is one of ours.
pub(crate) fn split_ipid(ipid: [u8; 16]) -> (TargetId, u64) {
    let value = u128::from_le_bytes(ipid);
    (TargetId::from_word(value as u64), (value >> 64) as u64)
}

/// A GUID in its little-endian wire form.
pub(crate) fn guid_to_wire(guid: &GUID) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0..4].copy_from_slice(&guid.data1.to_le_bytes());
    bytes[4..6].copy_from_slice(&guid.data2.to_le_bytes());
    bytes[6..8].copy_from_slice(&guid.data3.to_le_bytes());
    bytes[8..16].copy_from_slice(&guid.data4);
    bytes
}

/// The GUID of a little-endian wire form.
pub(crate) fn guid_from_wire(bytes: [u8; 16]) -> GUID {
    let [a, b, c, d, e, f, g, h, data4 @ ..] = bytes;
    GUID {
        data1: u32::from_le_bytes([a, b, c, d]),
        data2: u16::from_le_bytes([e, f]),
        data3: u16::from_le_bytes([g, h]),
        data4,
    }
}

impl ObjRef {
    /// The reference as bytes.
    pub(crate) fn to_wire(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED + 64 * self.bindings.len());
        bytes.extend(SIGNATURE.to_le_bytes());
        bytes.extend(STANDARD.to_le_bytes());
        bytes.extend(guid_to_wire(&self.iid));
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(self.public_refs.to_le_bytes());
        bytes.extend(self.oxid.to_le_bytes());
        bytes.extend(self.oid.to_le_bytes());
        bytes.extend(ipid(self.target, self.oxid));
        debug_assert_eq!(bytes.len(), FIXED);
        // String bindings (tower, text, NUL), their end, and no security bindings.
        let mut entries = Vec::new();
        for binding in &self.bindings {
            entries.push(binding.protocol.tower());
            entries.extend(text_of(binding).encode_utf16());
            entries.push(0);
        }
        entries.extend([0, 0]);
        let security_offset = entries.len() - 1;
        for word in [entries.len() as u16, security_offset as u16].iter().chain(&entries) {
            bytes.extend(word.to_le_bytes());
        }
        bytes
    }

    /// Reads a reference; what follows it is ignored.
    pub(crate) fn from_wire(bytes: &[u8]) -> Result<Self> {
        let bad = |what: &str| Error::new(code::RPC_E_INVALID_OBJREF, format!("an object reference has {what}"));
        let u32_at = |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let u64_at = |at: usize| Some(u64::from(u32_at(at)?) | u64::from(u32_at(at + 4)?) << 32);
        let guid_at = |at: usize| bytes.get(at..at + 16)?.try_into().ok().map(guid_from_wire);
        let short = || bad("too few bytes");
        if u32_at(0).ok_or_else(short)? != SIGNATURE {
            return Err(bad("a wrong signature"));
        }
        if u32_at(4).ok_or_else(short)? != STANDARD {
            return Err(bad("a form other than standard"));
        }
        let (oxid, ipid_oxid) = (u64_at(32).ok_or_else(short)?, u64_at(56).ok_or_else(short)?);
        if oxid != ipid_oxid {
            return Err(bad("an IPID of another process"));
        }
        let entries = bytes.get(FIXED..).and_then(|rest| rest.split_at_checked(4)).ok_or_else(short)?;
        let count = usize::from(u16::from_le_bytes([entries.0[0], entries.0[1]]));
        let words: Vec<u16> = entries
            .1
            .get(..count * 2)
            .ok_or_else(short)?
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .collect();
        let bindings = bindings_of(&words).ok_or_else(|| bad("malformed bindings"))?;
        if bindings.is_empty() {
            return Err(bad("no binding that this process knows"));
        }
        Ok(Self {
            iid: guid_at(8).ok_or_else(short)?,
            public_refs: u32_at(28).ok_or_else(short)?,
            oxid,
            oid: u64_at(40).ok_or_else(short)?,
            target: TargetId::from_word(u64_at(48).ok_or_else(short)?),
            bindings,
        })
    }
}

/// A binding as a reference has it: the tower says the protocol sequence.
fn text_of(binding: &StringBinding) -> String {
    let text = StringBinding { object: None, ..binding.clone() }.to_string();
    text.split_once(':').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

/// The string bindings with towers that are known. `None` where they do not end as they must.
fn bindings_of(words: &[u16]) -> Option<Vec<StringBinding>> {
    let (mut rest, mut bindings) = (words, Vec::new());
    loop {
        let (&tower, text) = rest.split_first()?;
        if tower == 0 {
            return Some(bindings);
        }
        let end = text.iter().position(|&word| word == 0)?;
        if let Some(protocol) = ProtocolSequence::from_tower(tower) {
            let text = String::from_utf16(&text[..end]).ok()?;
            bindings.push(format!("{protocol}:{text}").parse().ok()?);
        }
        rest = &text[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ObjRef {
        ObjRef {
            iid: GUID::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677),
            public_refs: 5,
            oxid: 0x1122_3344_5566_7788,
            oid: 42,
            target: TargetId { index: 7, generation: 3 },
            bindings: vec![
                StringBinding::new(ProtocolSequence::ViShm, "oxid-1122334455667788", ""),
                StringBinding::new(ProtocolSequence::ViUdp, "10.0.0.1", "5555"),
            ],
        }
    }

    #[test]
    fn round_trips() {
        assert_eq!(ObjRef::from_wire(&sample().to_wire()).ok(), Some(sample()));
    }

    #[test]
    fn every_shorter_form_is_refused() {
        let bytes = sample().to_wire();
        // The last word, the end of the empty security bindings, is counted but not needed.
        for length in 0..bytes.len() {
            assert!(ObjRef::from_wire(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn wrong_signature_form_and_ipid_are_refused() {
        for at in [0, 4, 56] {
            let mut bytes = sample().to_wire();
            bytes[at] ^= 0x40;
            assert!(ObjRef::from_wire(&bytes).is_err(), "byte {at}");
        }
    }
}
