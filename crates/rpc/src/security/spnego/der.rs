//! The subset of DER that SPNEGO needs: elements with one-byte tags (X.690 8.1, 10.1).

use super::SpnegoError;

pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const ENUMERATED: u8 = 0x0a;
pub(super) const SEQUENCE: u8 = 0x30;
/// The tag of GSS-API tokens (RFC 2743 3.1).
pub(super) const APPLICATION_0: u8 = 0x60;
/// The tags of optional fields.
pub(super) const FIELD_0: u8 = 0xa0;
pub(super) const FIELD_1: u8 = 0xa1;
pub(super) const FIELD_2: u8 = 0xa2;
pub(super) const FIELD_3: u8 = 0xa3;

/// Reads elements from front to back.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    /// Reads the next element, which must have this tag, and returns its contents.
    pub(super) fn element(&mut self, expected: u8) -> Result<&'a [u8], SpnegoError> {
        let (&found, rest) = self.0.split_first().ok_or(SpnegoError::Short)?;
        if found != expected {
            return Err(SpnegoError::Element { found, expected });
        }
        let (length, rest) = length(rest)?;
        let (contents, rest) = rest.split_at_checked(length).ok_or(SpnegoError::Short)?;
        self.0 = rest;
        Ok(contents)
    }

    /// Reads the element in an optional field.
    pub(super) fn field(&mut self, number: u8, tag: u8) -> Result<Option<&'a [u8]>, SpnegoError> {
        match self.optional(number)? {
            Some(field) => only(field, tag).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the next element if it has this tag, and returns its contents.
    pub(super) fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>, SpnegoError> {
        if self.0.first() == Some(&tag) { self.element(tag).map(Some) } else { Ok(None) }
    }

    /// Checks that no bytes are left.
    pub(super) fn finish(self) -> Result<(), SpnegoError> {
        if self.0.is_empty() { Ok(()) } else { Err(SpnegoError::Trailing { length: self.0.len() }) }
    }
}

/// Returns the contents of the single element in the bytes.
pub(super) fn only(bytes: &[u8], tag: u8) -> Result<&[u8], SpnegoError> {
    let mut reader = Reader(bytes);
    let contents = reader.element(tag)?;
    reader.finish()?;
    Ok(contents)
}

/// Reads a length. Returns the length and the remaining bytes.
fn length(bytes: &[u8]) -> Result<(usize, &[u8]), SpnegoError> {
    let (&first, rest) = bytes.split_first().ok_or(SpnegoError::Short)?;
    match first {
        0..=0x7f => Ok((first.into(), rest)),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f)).ok_or(SpnegoError::Short)?;
            Ok((digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest))
        }
        // Indefinite lengths are not DER; longer lengths exceed any token.
        _ => Err(SpnegoError::Length),
    }
}

/// Encodes an element.
pub(super) fn element(tag: u8, contents: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    match contents.len() {
        length @ 0..0x80 => bytes.push(length as u8),
        length => {
            let digits = (length as u32).to_be_bytes();
            let digits = &digits[(length as u32).leading_zeros() as usize / 8..];
            bytes.push(0x80 | digits.len() as u8);
            bytes.extend_from_slice(digits);
        }
    }
    bytes.extend_from_slice(contents);
    bytes
}

/// Encodes a field that contains an element.
pub(super) fn field(number: u8, tag: u8, contents: &[u8]) -> Vec<u8> {
    element(number, &element(tag, contents))
}
