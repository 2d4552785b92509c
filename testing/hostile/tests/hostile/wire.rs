//! The bytes that the protocol's documents describe: greetings, frames, references, and the PDUs
//! that open an association.

/// The kinds of messages.
pub(crate) const REQUEST: u8 = 1;
pub(crate) const RESPONSE: u8 = 2;
pub(crate) const FAULT: u8 = 3;
pub(crate) const ONEWAY: u8 = 4;
pub(crate) const PDU: u8 = 5;
pub(crate) const CANCEL: u8 = 6;

/// The statuses of faults.
pub(crate) const OP_RANGE: u32 = 0x1c01_0002;
pub(crate) const BAD_DATA: u32 = 0x0000_06f7;
pub(crate) const NO_MEMORY: u32 = 0x1c00_001b;
pub(crate) const NOT_FOUND: u32 = 0x8001_0108;
pub(crate) const BAD_PROTOCOL: u32 = 0x1c01_000b;

/// The IIDs.
pub(crate) const IVICTIM: u128 = 0xe1a9_0b6c_37d5_4c8f_9b52_60f4_d8a3_c703;
pub(crate) const ITHING: u128 = 0xe1a9_0b6c_37d5_4c8f_9b52_60f4_d8a3_c701;
pub(crate) const IPAIR: u128 = 0xe1a9_0b6c_37d5_4c8f_9b52_60f4_d8a3_c702;
pub(crate) const IMAPPED: u128 = 0xe1a9_0b6c_37d5_4c8f_9b52_60f4_d8a3_c705;
pub(crate) const IGRAPHS: u128 = 0xe1a9_0b6c_37d5_4c8f_9b52_60f4_d8a3_c706;
pub(crate) const IUNKNOWN: u128 = 0x0000_0000_0000_0000_c000_0000_0000_0046;

const RUNTIME: u128 = 0x4be1_0c7a_93d5_4f26_8e0b_6a17_d2c4_f358;
const PROCESS: u128 = 0x9d27_5e0f_14c3_4ab6 << 64;
const FLAT: u128 = 0x8f3c_51d2_7a0e_4d6b_b1e4_90c7_25ad_6e18;

/// The index and the generation of an interface pointer.
pub(crate) type Target = (u32, u32);
/// The runtime's own target.
pub(crate) const SYSTEM: Target = (0, 0);

/// Returns a greeting: magic number, version, number of slots, flags (the sender will be silent for
/// long), and the length of area 0 in bytes.
pub(crate) fn greeting(area: u64) -> Vec<u8> {
    let words = [0x4956_424f, 2, 16, 2, area as u32, (area >> 32) as u32];
    words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect()
}

/// The note that calls a parked peer: number, kind, length.
pub(crate) const CALL_NOTE: [u8; 16] = [0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Returns a UUID's bytes, with the first three parts in little-endian order.
pub(crate) fn uuid(value: u128) -> [u8; 16] {
    let mut bytes = value.to_be_bytes();
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    bytes
}

/// A frame under construction.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) bytes: Vec<u8>,
}

impl Frame {
    pub(crate) fn block(length: usize) -> Self {
        Self { bytes: vec![0; length.next_multiple_of(8)] }
    }

    pub(crate) fn put(mut self, at: usize, bytes: &[u8]) -> Self {
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub(crate) fn u32(self, at: usize, value: u32) -> Self {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn u64(self, at: usize, value: u64) -> Self {
        self.put(at, &value.to_le_bytes())
    }

    /// Appends an object, and sets a pointer slot to it.
    pub(crate) fn object(mut self, slot: usize, kind: u32, count: usize, body: &[u8]) -> Self {
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((count as u32).to_le_bytes());
        let at = self.bytes.len() as u64;
        self.bytes.extend(body);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        self.u64(slot, at)
    }
}

/// Returns a structure `Mark`: a boolean, an enumeration at 4, a hyper at 8.
pub(crate) fn mark(set: u8, color: u32, weight: u64) -> Vec<u8> {
    Frame::block(16).put(0, &[set]).u32(4, color).u64(8, weight).bytes
}

/// A standard OBJREF.
#[derive(Clone)]
pub(crate) struct Reference {
    pub(crate) iid: u128,
    pub(crate) refs: u32,
    pub(crate) oxid: u64,
    pub(crate) oid: u64,
    pub(crate) target: Target,
    pub(crate) endpoint: String,
}

impl Reference {
    pub(crate) fn to_wire(&self) -> Vec<u8> {
        let mut bytes = b"MEOW\x01\0\0\0".to_vec();
        bytes.extend(uuid(self.iid));
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(self.refs.to_le_bytes());
        bytes.extend(self.oxid.to_le_bytes());
        bytes.extend(self.oid.to_le_bytes());
        bytes.extend(self.target.0.to_le_bytes());
        bytes.extend(self.target.1.to_le_bytes());
        bytes.extend(self.oxid.to_le_bytes());
        let words: Vec<u16> = [0xf5].into_iter().chain(self.endpoint.encode_utf16()).chain([0, 0, 0]).collect();
        for word in [words.len() as u16, words.len() as u16 - 1].iter().chain(&words) {
            bytes.extend(word.to_le_bytes());
        }
        bytes
    }

    /// Returns the target and the OXID of a reference.
    pub(crate) fn target_of(bytes: &[u8]) -> (Target, u64) {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        ((word(48), word(52)), u64::from(word(32)) | u64::from(word(36)) << 32)
    }
}

/// Returns a PDU with its common header and the greatest fragment lengths.
pub(crate) fn unit(kind: u8, call_id: u32, body: &[u8]) -> Vec<u8> {
    let length = (24 + body.len()) as u16;
    let mut bytes = vec![5, 0, kind, 3, 0x10, 0, 0, 0];
    bytes.extend(length.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(call_id.to_le_bytes());
    bytes.extend([0xff; 4]);
    bytes.extend([0; 4]);
    bytes.extend(body);
    bytes
}

/// Returns a request to the runtime's own target. The association's first context must be the
/// runtime's interface.
pub(crate) fn request(call_id: u32, opnum: u16, frame: &[u8]) -> Vec<u8> {
    let mut bytes = unit(0, call_id, frame);
    // The allocation hint, the context and the opnum replace the fragment lengths of other PDUs.
    bytes[16..22].fill(0);
    bytes[22..24].copy_from_slice(&opnum.to_le_bytes());
    bytes
}

/// Returns a list of presentation contexts: interface and version, each with FLAT.
pub(crate) fn contexts(interfaces: &[(u128, u32)]) -> Vec<u8> {
    let mut body = vec![interfaces.len() as u8, 0, 0, 0];
    for (id, (interface, version)) in interfaces.iter().enumerate() {
        body.extend([id as u8, 0, 1, 0]);
        body.extend(uuid(*interface));
        body.extend(version.to_le_bytes());
        body.extend(uuid(FLAT));
        body.extend(1_u32.to_le_bytes());
    }
    body
}

/// Returns the bind with a process's OXID.
pub(crate) fn bind(oxid: u64) -> Vec<u8> {
    unit(11, 1, &contexts(&[(RUNTIME, 1), (process(oxid), 1)]))
}

/// Returns the UUID that identifies a process in binds and their answers.
pub(crate) fn process(oxid: u64) -> u128 {
    PROCESS | u128::from(oxid)
}

/// Returns an answer to a bind or an alter_context, with the results. `named` is the transfer
/// syntax in the results that are 3 (negotiate_ack).
pub(crate) fn ack(kind: u8, call_id: u32, named: u128, results: &[u16]) -> Vec<u8> {
    let endpoint = "nowhere";
    let mut body = (endpoint.len() as u16 + 1).to_le_bytes().to_vec();
    body.extend(endpoint.as_bytes());
    body.push(0);
    body.resize(body.len().next_multiple_of(4), 0);
    body.extend([results.len() as u8, 0, 0, 0]);
    for result in results {
        body.extend(result.to_le_bytes());
        body.extend([0, 0]);
        body.extend(uuid(if *result == 3 { named } else { FLAT }));
        body.extend(1_u32.to_le_bytes());
    }
    unit(kind, call_id, &body)
}

/// Returns the frame of a request that resolves a name.
pub(crate) fn resolve(name: &str, iid: u128) -> Vec<u8> {
    let mut bytes = uuid(iid).to_vec();
    bytes.extend((name.len() as u64).to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}
