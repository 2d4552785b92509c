//! Type serialization, version 1: values in NDR 2.0 outside of calls (MS-RPCE 2.2.6).
//!
//! A common header specifies the format of the values. A private header with the value's length
//! precedes each constructed value. The value itself has the form of a parameter in stub data:
//! [`crate::ndr::Method::encode_request`] writes the value, as the request of a function that has
//! the value as its one `[in]` parameter.

use crate::ndr::{self, Order};
use std::fmt;

/// The version number of this format.
const VERSION: u8 = 1;
/// The label of little-endian byte order, as in a PDU: C706 14.1.
const LITTLE: u8 = 0x10;
/// The label of big-endian byte order.
const BIG: u8 = 0x00;
/// The filler at the end of the common header.
const FILLER: [u8; 4] = [0xcc; 4];
/// The length of each header and the alignment of values, in bytes.
const HEADER: usize = 8;

/// The reason why bytes are not serialized values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The bytes end before a header or a value.
    Short,
    /// The version is not 1.
    Version(u8),
    /// The byte order is unknown.
    Order(u8),
    /// The length of the common header is not 8.
    Header(u16),
    /// The length of a value is not a multiple of 8.
    Length(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short => f.write_str("the serialized values are truncated"),
            Self::Version(version) => write!(f, "the serialization has version {version}, expected 1"),
            Self::Order(label) => write!(f, "{label:#04x} is not a byte order of serialized values"),
            Self::Header(length) => write!(f, "the header of the serialized values has {length} bytes, expected 8"),
            Self::Length(length) => write!(f, "a serialized value has {length} bytes, which is not a multiple of 8"),
        }
    }
}

impl std::error::Error for Error {}

/// Appends the common header: MS-RPCE 2.2.6.1.
pub fn write_header(order: Order, out: &mut Vec<u8>) {
    let (label, length) = match order {
        Order::Little => (LITTLE, (HEADER as u16).to_le_bytes()),
        Order::Big => (BIG, (HEADER as u16).to_be_bytes()),
    };
    out.extend([VERSION, label]);
    out.extend(length);
    out.extend(FILLER);
}

/// Appends a constructed value that `write` writes, with its private header and padding: MS-RPCE
/// 2.2.6.2.
///
/// # Errors
///
/// The errors of `write`, and [`ndr::Error::TooLong`] for a value whose length does not fit 32
/// bits. `out` is unchanged then.
pub fn write_value(
    order: Order,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>) -> ndr::Result<()>,
) -> ndr::Result<()> {
    let start = out.len();
    out.resize(start + HEADER, 0);
    let written = write(out).and_then(|()| {
        let length = (out.len() - start).next_multiple_of(HEADER);
        out.resize(start + length, 0);
        u32::try_from(length - HEADER).map_err(|_| ndr::Error::TooLong { at: length })
    });
    let length = written.inspect_err(|_| out.truncate(start))?;
    let bytes = if order == Order::Big { length.to_be_bytes() } else { length.to_le_bytes() };
    out[start..start + bytes.len()].copy_from_slice(&bytes);
    Ok(())
}

/// Reads serialized values.
#[derive(Clone, Copy, Debug)]
pub struct Values<'a> {
    order: Order,
    left: &'a [u8],
}

impl<'a> Values<'a> {
    /// Reads the common header.
    ///
    /// # Errors
    ///
    /// [`Error`] if the header is malformed. The filler is ignored.
    pub fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let Some((header, left)) = bytes.split_first_chunk::<HEADER>() else { return Err(Error::Short) };
        let [version, label, length @ ..] = *header;
        if version != VERSION {
            return Err(Error::Version(version));
        }
        let length = [length[0], length[1]];
        let (order, length) = match label {
            LITTLE => (Order::Little, u16::from_le_bytes(length)),
            BIG => (Order::Big, u16::from_be_bytes(length)),
            other => return Err(Error::Order(other)),
        };
        if usize::from(length) == HEADER { Ok(Self { order, left }) } else { Err(Error::Header(length)) }
    }

    /// Returns the byte order of the values.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the next constructed value with its padding, or `None` at the end.
    ///
    /// # Errors
    ///
    /// [`Error`] if the private header is malformed or the value is truncated.
    pub fn next_value(&mut self) -> Result<Option<&'a [u8]>, Error> {
        if self.left.is_empty() {
            return Ok(None);
        }
        let Some((header, left)) = self.left.split_first_chunk::<HEADER>() else { return Err(Error::Short) };
        let length = [header[0], header[1], header[2], header[3]];
        let length = if self.order == Order::Big { u32::from_be_bytes(length) } else { u32::from_le_bytes(length) };
        if !length.is_multiple_of(HEADER as u32) {
            return Err(Error::Length(length));
        }
        let Some((value, left)) = left.split_at_checked(length as usize) else { return Err(Error::Short) };
        self.left = left;
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, Values, write_header, write_value};
    use crate::ndr::{self, Order};

    /// A byte and a 32-bit number in one value, and a byte in another.
    const SERIALIZED: [u8; 32] =
        [1, 0x10, 8, 0, 0xcc, 0xcc, 0xcc, 0xcc, 8, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 8, 0, 0, 0, 0, 0, 0, 0];

    fn written(order: Order) -> Vec<u8> {
        let mut out = Vec::new();
        write_header(order, &mut out);
        let values: [&[u8]; 2] = [&[7, 0, 0, 0, 1, 2, 3, 4], &[9]];
        for value in values {
            write_value(order, &mut out, |out| {
                out.extend(value);
                Ok(())
            })
            .unwrap();
        }
        out
    }

    #[test]
    fn serialised_values_are_padded_and_preceded_by_their_length() {
        let written = written(Order::Little);
        assert_eq!(written[..32], SERIALIZED);
        assert_eq!(written[32..], [9, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn serialised_values_are_read_in_both_byte_orders() {
        for order in [Order::Little, Order::Big] {
            let written = written(order);
            let mut values = Values::read(&written).unwrap();
            assert_eq!(values.order(), order);
            assert_eq!(values.next_value(), Ok(Some([7, 0, 0, 0, 1, 2, 3, 4].as_slice())));
            assert_eq!(values.next_value(), Ok(Some([9, 0, 0, 0, 0, 0, 0, 0].as_slice())));
            assert_eq!(values.next_value(), Ok(None));
        }
    }

    #[test]
    fn malformed_serialisation_headers_are_refused_with_the_reason() {
        let mut bytes = written(Order::Little);
        let refused = |bytes: &[u8]| Values::read(bytes).and_then(|mut values| values.next_value()).unwrap_err();
        assert_eq!(refused(&bytes[..7]), Error::Short);
        assert_eq!(refused(&bytes[..23]), Error::Short);
        bytes[8] = 4;
        assert_eq!(refused(&bytes), Error::Length(4));
        bytes[8..12].fill(0xf8);
        assert_eq!(refused(&bytes), Error::Short);
        for (at, value, error) in [(2, 16, Error::Header(16)), (1, 0x20, Error::Order(0x20)), (0, 2, Error::Version(2))]
        {
            bytes[at] = value;
            assert_eq!(refused(&bytes), error);
        }
    }

    #[test]
    fn a_serialisation_error_writes_nothing() {
        let mut out = vec![1, 2, 3];
        let error = ndr::Error::Null { at: 0 };
        assert_eq!(write_value(Order::Little, &mut out, |_| Err(error)), Err(error));
        assert_eq!(out, [1, 2, 3]);
    }
}
