//! The verification trailer (MS-RPCE 2.2.2.13): the end of a request's stub data, where a client
//! repeats the fields of the protocol that no signature covers.
//!
//! Binds are not signed. An attacker between client and server can therefore change the interface
//! that a client binds, and the client's signed calls would perform another interface's methods.
//! The trailer is signed together with the stub data, and names the interface that the client
//! means. The server compares this interface with the bound one.

use super::Presentation;
use super::pdu::PduType;
use crate::octets::{ByteOrder, Reader, Short, Writer};

const SIGNATURE: [u8; 8] = [0x8a, 0xe3, 0x13, 0x71, 0x02, 0xf4, 0x36, 0x71];
/// The alignment of the trailer in the stub data, in bytes.
const ALIGN: usize = 4;
/// The maximum length of a trailer, in bytes. A trailer with the known commands has 80 bytes.
const LENGTH_MAX: usize = 256;

/// The commands, and the flags in their numbers.
mod commands {
    pub(super) const BITMASK: u16 = 1;
    pub(super) const CONTEXT: u16 = 2;
    pub(super) const HEADER: u16 = 3;
    /// The last command.
    pub(super) const END: u16 = 0x4000;
    /// The flag of a command that a receiver must know: a receiver that does not know it has to
    /// refuse the call.
    pub(super) const MUST_PROCESS: u16 = 0x8000;
}

/// The bit of the bitmask that announces support for signatures that cover headers.
const HEADER_SIGNING: u32 = 1;

/// The fields that a trailer repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verified {
    pub(super) presentation: Presentation,
    pub(super) call_id: u32,
    pub(super) opnum: u16,
    /// The byte order in the request's header.
    pub(super) order: ByteOrder,
}

impl Verified {
    /// Returns the padding and the trailer for stub data of this length.
    pub(super) fn trailer(&self, stub_length: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(LENGTH_MAX);
        bytes.resize(stub_length.next_multiple_of(ALIGN) - stub_length, 0);
        let mut to = Writer::new(&mut bytes, ByteOrder::Little);
        to.bytes(&SIGNATURE);
        to.u16(commands::BITMASK);
        to.u16(4);
        to.u32(HEADER_SIGNING);
        to.u16(commands::CONTEXT);
        to.u16(40);
        to.syntax(self.presentation.interface);
        to.syntax(self.presentation.transfer);
        to.u16(commands::HEADER | commands::END);
        to.u16(16);
        to.bytes(&self.header());
        bytes
    }

    /// Returns the parameters of the command with the header's fields.
    fn header(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0] = PduType::REQUEST.0;
        // The data representation: the byte order, ASCII, IEEE floating point.
        bytes[4] = if self.order == ByteOrder::Little { 0x10 } else { 0 };
        bytes[8..12].copy_from_slice(&self.call_id.to_le_bytes());
        bytes[12..14].copy_from_slice(&self.presentation.id.to_le_bytes());
        bytes[14..].copy_from_slice(&self.opnum.to_le_bytes());
        bytes
    }

    /// Compares the trailer of received stub data, if there is one, with this call. Returns the
    /// length of the stub data without the trailer.
    ///
    /// # Errors
    ///
    /// [`Mismatch`] if the trailer names another call than the received call.
    pub(super) fn check(&self, stub: &[u8]) -> Result<usize, Mismatch> {
        let first = stub.len().saturating_sub(LENGTH_MAX).next_multiple_of(ALIGN);
        // The search begins at the end. The bytes before the trailer are arguments, which may come
        // from another process and contain a false trailer.
        for at in (first..stub.len()).step_by(ALIGN).rev() {
            let Some(trailer) = stub[at..].strip_prefix(&SIGNATURE) else { continue };
            match self.compare(trailer) {
                Ok(true) => return Ok(at),
                Ok(false) => return Err(Mismatch),
                // The bytes are no trailer, but arguments that happen to contain the signature.
                Err(Short) => {}
            }
        }
        Ok(stub.len())
    }

    /// Whether the commands, which must fill the trailer, agree with the received call.
    fn compare(&self, trailer: &[u8]) -> Result<bool, Short> {
        let mut from = Reader::new(trailer, ByteOrder::Little);
        let mut is_same = true;
        loop {
            let (command, length) = (from.u16()?, from.u16()?);
            let value = from.bytes(length.into())?;
            is_same &= match command & !(commands::END | commands::MUST_PROCESS) {
                commands::BITMASK => true,
                commands::CONTEXT => {
                    let mut value = Reader::new(value, ByteOrder::Little);
                    let syntaxes = (value.syntax()?, value.syntax()?);
                    syntaxes == (self.presentation.interface, self.presentation.transfer)
                }
                commands::HEADER => value == self.header(),
                _ => command & commands::MUST_PROCESS == 0,
            };
            if command & commands::END != 0 {
                return if from.rest().is_empty() { Ok(is_same) } else { Err(Short) };
            }
        }
    }
}

/// The trailer names another call than the received call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mismatch;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uuid::{NDR, NDR64, SyntaxId, Uuid};

    fn verified() -> Verified {
        let interface = SyntaxId { uuid: Uuid(0x1234), version: 0x2_0001 };
        let presentation = Presentation { id: 3, interface, transfer: NDR };
        Verified { presentation, call_id: 77, opnum: 5, order: ByteOrder::Little }
    }

    fn with_trailer(stub: &[u8]) -> Vec<u8> {
        [stub, &verified().trailer(stub.len())].concat()
    }

    #[test]
    fn a_trailer_of_the_same_call_is_removed() {
        for length in 0..9 {
            let stub = vec![7; length];
            let end = length.next_multiple_of(ALIGN);
            assert_eq!(verified().check(&with_trailer(&stub)), Ok(end));
        }
    }

    #[test]
    fn each_field_is_compared() {
        let same = verified();
        let presentation = same.presentation;
        let interface = SyntaxId { uuid: Uuid(0x1235), ..presentation.interface };
        let others = [
            Verified { presentation: Presentation { interface, ..presentation }, ..same },
            Verified { presentation: Presentation { transfer: NDR64, ..presentation }, ..same },
            Verified { presentation: Presentation { id: 4, ..presentation }, ..same },
            Verified { call_id: 78, ..same },
            Verified { opnum: 6, ..same },
            Verified { order: ByteOrder::Big, ..same },
        ];
        for other in others {
            assert_eq!(other.check(&with_trailer(&[1; 16])), Err(Mismatch), "{other:?}");
        }
    }

    #[test]
    fn stub_data_without_a_trailer_is_left_as_it_is() {
        let mut stub = vec![0; 40];
        assert_eq!(verified().check(&stub), Ok(40));
        stub[16..24].copy_from_slice(&SIGNATURE);
        assert_eq!(verified().check(&stub), Ok(40));
        assert_eq!(verified().check(&SIGNATURE), Ok(8));
        assert_eq!(verified().check(&[]), Ok(0));
    }

    /// The arguments, which come from an attacker, end with a false trailer. Its command is
    /// unknown, and so long that it contains the beginning of the true trailer.
    #[test]
    fn arguments_do_not_hide_the_trailer() {
        let true_trailer = verified().trailer(0);
        // The number of bytes of the true trailer that belong to the false trailer's command. The
        // true trailer's last command follows, and so ends the false trailer, too.
        let swallowed = (true_trailer.len() - 20) as u16;
        let arguments = [&SIGNATURE[..], &9_u16.to_le_bytes(), &swallowed.to_le_bytes()].concat();
        let other = SyntaxId { uuid: Uuid(0x1235), version: 1 };
        let mut changed = verified();
        changed.presentation.interface = other;
        let stub = with_trailer(&arguments);
        assert_eq!(changed.compare(&stub[SIGNATURE.len()..]), Ok(true));
        assert_eq!(changed.check(&stub), Err(Mismatch));
        assert_eq!(verified().check(&stub), Ok(arguments.len()));
    }

    #[test]
    fn unknown_commands_are_skipped_unless_they_must_be_processed() {
        let stub = |command: u16| {
            let mut bytes = SIGNATURE.to_vec();
            bytes.extend(command.to_le_bytes());
            bytes.extend([2, 0, 9, 9]);
            bytes.extend((commands::BITMASK | commands::END).to_le_bytes());
            bytes.extend([4, 0, 1, 0, 0, 0]);
            bytes
        };
        assert_eq!(verified().check(&stub(9)), Ok(0));
        assert_eq!(verified().check(&stub(9 | commands::MUST_PROCESS)), Err(Mismatch));
    }
}
