//! What is to be sent: messages cut into fragments, each protected where the call is.

use super::contexts::Entry;
use super::pdu::{Header, Message, Request, Response, Trailer, flags};
use crate::security::{Level, SecurityError};

/// Signed stub data is padded to a multiple of this, as the blocks of some ciphers need (MS-RPCE 2.2.2.11).
const SIGNED_ALIGN: usize = 16;
/// Other fragments but the last have stub data of a multiple of this.
const PLAIN_ALIGN: usize = 8;

/// A message that can be cut.
pub(super) trait Fragments {
    /// Bytes of a fragment before its stub data.
    fn head(&self) -> usize;
    /// The stub data of the whole message.
    fn stub(&self) -> &[u8];
    /// Begins a fragment, with how much is still to come, itself included.
    fn begin<'b>(&self, bytes: &'b mut Vec<u8>, header: &Header, left: u32) -> Message<'b>;
}

impl Fragments for Request<'_> {
    fn head(&self) -> usize {
        24 + if self.object.is_some() { 16 } else { 0 }
    }

    fn stub(&self) -> &[u8] {
        self.stub
    }

    fn begin<'b>(&self, bytes: &'b mut Vec<u8>, header: &Header, left: u32) -> Message<'b> {
        Request { alloc_hint: left, ..*self }.begin(bytes, header)
    }
}

impl Fragments for Response<'_> {
    fn head(&self) -> usize {
        24
    }

    fn stub(&self) -> &[u8] {
        self.stub
    }

    fn begin<'b>(&self, bytes: &'b mut Vec<u8>, header: &Header, left: u32) -> Message<'b> {
        Response { alloc_hint: left, ..*self }.begin(bytes, header)
    }
}

/// Appends a message in fragments of a length, and protects them at the level of a security context.
pub(super) fn put<M: Fragments>(
    output: &mut Vec<u8>,
    length: u16,
    header: &Header,
    message: &M,
    security: Option<&mut Entry>,
) -> Result<(), SecurityError> {
    let mut protection = security.filter(|entry| entry.level > Level::Connect).map(Protection::new);
    let (trailer, align) = protection.as_ref().map_or((0, PLAIN_ALIGN), |it| (it.trailer, SIGNED_ALIGN));
    let room = usize::from(length).saturating_sub(message.head() + trailer);
    // A signature that leaves no room for anything else is no mechanism's.
    let room = if room < align { return Err(SecurityError::NotReady) } else { room - room % align };
    let mut left = message.stub();
    let mut first = flags::FIRST;
    loop {
        let (part, rest) = left.split_at(left.len().min(room));
        let last = if rest.is_empty() { flags::LAST } else { 0 };
        let header = Header { flags: header.flags | first | last, ..*header };
        let start = output.len();
        let mut unit = message.begin(output, &header, u32::try_from(left.len()).unwrap_or(0));
        unit.body().bytes(part);
        match &mut protection {
            None => unit.finish(0),
            Some(protection) => {
                protection.finish(unit, part.len());
                protection.sign(output, start, message.head())?;
            }
        }
        if last != 0 {
            return Ok(());
        }
        (left, first) = (rest, 0);
    }
}

/// What is done to each fragment of a message that is protected.
struct Protection<'a> {
    entry: &'a mut Entry,
    /// Bytes of a trailer, signature included.
    trailer: usize,
    signature: Vec<u8>,
}

impl<'a> Protection<'a> {
    fn new(entry: &'a mut Entry) -> Self {
        Self { trailer: Trailer::SIZE + entry.context.signature_length(), entry, signature: Vec::new() }
    }

    /// Ends a unit but for its signature.
    fn finish(&self, mut unit: Message<'_>, stub: usize) {
        let signature = self.trailer - Trailer::SIZE;
        unit.trailer(&self.entry.head(), stub.next_multiple_of(SIGNED_ALIGN) - stub, signature);
        unit.finish(signature);
    }

    fn sign(&mut self, output: &mut Vec<u8>, start: usize, head: usize) -> Result<(), SecurityError> {
        self.signature.clear();
        let unit = &mut output[start..];
        let sealed = head..unit.len() - Trailer::SIZE;
        self.entry.context.protect(self.entry.level, unit, sealed, &mut self.signature)?;
        debug_assert_eq!(self.signature.len() + Trailer::SIZE, self.trailer, "a signature is as long as was said");
        output.extend_from_slice(&self.signature);
        Ok(())
    }
}

/// How many units there are in what is to be sent.
pub(super) fn units(mut output: &[u8]) -> u32 {
    let mut count = 0;
    while let Some(rest) = Header::read(output).ok().and_then(|header| output.get(header.length.into()..)) {
        (output, count) = (rest, count + 1);
    }
    count
}
