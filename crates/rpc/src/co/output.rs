//! The output of an association: messages are cut into fragments, and each fragment is protected at
//! the level of its call.

use super::contexts::Entry;
use super::pdu::{Header, Message, Request, Response, Trailer, flags};
use crate::security::{Level, SecurityError};

/// The alignment of the length of signed stub data, in bytes. Some ciphers need this alignment for
/// their blocks (MS-RPCE 2.2.2.11).
const SIGNED_ALIGN: usize = 16;
/// The alignment of the length of unsigned stub data in all fragments but the last, in bytes.
const PLAIN_ALIGN: usize = 8;

/// A message that can be fragmented.
pub(super) trait Fragments {
    /// Returns the length of a fragment before its stub data, in bytes.
    fn head(&self) -> usize;
    /// Returns the stub data of the whole message.
    fn stub(&self) -> &[u8];
    /// Begins a fragment. `left` is the remaining stub data including the fragment's own, in bytes.
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

/// Appends a message in fragments of at most `length` bytes, protected at the level of the security
/// context. The message's stub data is followed by `tail`.
pub(super) fn put<M: Fragments>(
    output: &mut Vec<u8>,
    length: u16,
    header: &Header,
    message: &M,
    tail: &[u8],
    security: Option<&mut Entry>,
) -> Result<(), SecurityError> {
    let mut protection = security.filter(|entry| entry.level > Level::Connect).map(Protection::new);
    let (trailer, align) = protection.as_ref().map_or((0, PLAIN_ALIGN), |it| (it.trailer, SIGNED_ALIGN));
    let room = usize::from(length).saturating_sub(message.head() + trailer);
    // A fragment has no room for stub data if the mechanism announces a signature of nearly its
    // length.
    let room = if room < align { return Err(SecurityError::NotReady) } else { room - room % align };
    let (mut left, mut left_of_tail) = (message.stub(), tail);
    let mut first = flags::FIRST;
    loop {
        let (part, rest) = left.split_at(left.len().min(room));
        let (part_of_tail, rest_of_tail) = left_of_tail.split_at(left_of_tail.len().min(room - part.len()));
        let last = if rest.is_empty() && rest_of_tail.is_empty() { flags::LAST } else { 0 };
        let count = left.len() + left_of_tail.len();
        let header = Header { flags: header.flags | first | last, ..*header };
        let start = output.len();
        let mut unit = message.begin(output, &header, u32::try_from(count).unwrap_or(0));
        unit.body().bytes(part);
        unit.body().bytes(part_of_tail);
        match &mut protection {
            None => unit.finish(0),
            Some(protection) => {
                protection.finish(unit, part.len() + part_of_tail.len());
                protection.sign(output, start, message.head())?;
            }
        }
        if last != 0 {
            return Ok(());
        }
        (left, left_of_tail, first) = (rest, rest_of_tail, 0);
    }
}

/// The protection of a message's fragments.
struct Protection<'a> {
    entry: &'a mut Entry,
    /// The length of a trailer with its signature, in bytes.
    trailer: usize,
    signature: Vec<u8>,
}

impl<'a> Protection<'a> {
    fn new(entry: &'a mut Entry) -> Self {
        Self { trailer: Trailer::SIZE + entry.context.signature_length(), entry, signature: Vec::new() }
    }

    /// Completes a unit except for its signature.
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
        debug_assert_eq!(self.signature.len() + Trailer::SIZE, self.trailer, "the signature has the announced length");
        output.extend_from_slice(&self.signature);
        Ok(())
    }
}

/// Counts the units in an output.
pub(super) fn units(mut output: &[u8]) -> u32 {
    let mut count = 0;
    while let Some(rest) = Header::read(output).ok().and_then(|header| output.get(header.length.into()..)) {
        (output, count) = (rest, count + 1);
    }
    count
}
