//! The two kinds of tokens in a negotiation (RFC 4178 4.2).

use super::SpnegoError;
use super::der::{self, APPLICATION_0, BIT_STRING, ENUMERATED, FIELD_0, FIELD_1, FIELD_2, FIELD_3};
use super::der::{OBJECT_IDENTIFIER, OCTET_STRING, Reader, SEQUENCE};

/// The object identifier of SPNEGO, 1.3.6.1.5.5.2.
const SPNEGO: &[u8] = &[0x2b, 6, 1, 5, 5, 2];
/// The maximum number of mechanisms in a client's list.
const MECHANISMS_MAX: usize = 32;
/// The maximum length of the list in bytes. The limit is low, because servers keep the list for
/// clients that have proved nothing yet.
const LIST_MAX: usize = 1024;

/// The first token: the client's mechanisms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NegTokenInit<'a> {
    /// The encoded list of mechanisms, the most preferred first.
    pub list: &'a [u8],
    /// The first token of the most preferred mechanism.
    pub token: Option<&'a [u8]>,
}

/// The state of a negotiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NegState {
    /// The negotiation has succeeded.
    Completed,
    /// Another token is needed.
    Incomplete,
    /// The negotiation has failed.
    Rejected,
    /// Another token is needed, and the list has to be signed.
    RequestMic,
}

/// A later token.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NegTokenResp<'a> {
    /// The state of the negotiation. Clients may omit it.
    pub state: Option<NegState>,
    /// The chosen mechanism, in the server's first answer.
    pub mechanism: Option<&'a [u8]>,
    /// The mechanism's own token.
    pub token: Option<&'a [u8]>,
    /// The signature of the list.
    pub list_mic: Option<&'a [u8]>,
}

/// Encodes a list of mechanisms.
pub(super) fn list(mechanisms: &[&[u8]]) -> Vec<u8> {
    let identifiers: Vec<u8> = mechanisms.iter().flat_map(|id| der::element(OBJECT_IDENTIFIER, id)).collect();
    der::element(SEQUENCE, &identifiers)
}

impl<'a> NegTokenInit<'a> {
    /// Returns the token's bytes.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let mut fields = der::element(FIELD_0, self.list);
        fields.extend(self.token.into_iter().flat_map(|token| der::field(FIELD_2, OCTET_STRING, token)));
        let mut contents = der::element(OBJECT_IDENTIFIER, SPNEGO);
        contents.extend(der::field(FIELD_0, SEQUENCE, &fields));
        der::element(APPLICATION_0, &contents)
    }

    /// Reads the token. Extensions of Windows are ignored.
    ///
    /// # Errors
    ///
    /// [`SpnegoError`] if the token is malformed.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, SpnegoError> {
        let mut outer = Reader(der::only(bytes, APPLICATION_0)?);
        if outer.element(OBJECT_IDENTIFIER)? != SPNEGO {
            return Err(SpnegoError::NotSpnego);
        }
        let mut fields = Reader(der::only(der::only(outer.0, FIELD_0)?, SEQUENCE)?);
        let list = fields.element(FIELD_0)?;
        der::only(list, SEQUENCE)?;
        fields.field(FIELD_1, BIT_STRING)?;
        let token = fields.field(FIELD_2, OCTET_STRING)?;
        Ok(Self { list, token })
    }

    /// Returns the mechanisms, the most preferred first.
    ///
    /// # Errors
    ///
    /// If the list is malformed or too long.
    pub fn mechanisms(&self) -> Result<Vec<&'a [u8]>, SpnegoError> {
        if self.list.len() > LIST_MAX {
            return Err(SpnegoError::TooMany);
        }
        let mut reader = Reader(der::only(self.list, SEQUENCE)?);
        let mut mechanisms = Vec::new();
        while let Some(mechanism) = reader.optional(OBJECT_IDENTIFIER)? {
            if mechanisms.len() == MECHANISMS_MAX {
                return Err(SpnegoError::TooMany);
            }
            mechanisms.push(mechanism);
        }
        reader.finish()?;
        Ok(mechanisms)
    }
}

impl<'a> NegTokenResp<'a> {
    /// Returns the token's bytes.
    #[must_use]
    pub fn to_wire(&self) -> Vec<u8> {
        let state = self.state.map(|state| [state as u8]);
        let fields = [
            (FIELD_0, ENUMERATED, state.as_ref().map(|state| &state[..])),
            (FIELD_1, OBJECT_IDENTIFIER, self.mechanism),
            (FIELD_2, OCTET_STRING, self.token),
            (FIELD_3, OCTET_STRING, self.list_mic),
        ];
        let present = fields.into_iter().filter_map(|(number, tag, contents)| Some((number, tag, contents?)));
        let fields: Vec<u8> = present.flat_map(|(number, tag, contents)| der::field(number, tag, contents)).collect();
        der::field(FIELD_1, SEQUENCE, &fields)
    }

    /// Reads the token.
    ///
    /// # Errors
    ///
    /// [`SpnegoError`] if the token is malformed.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, SpnegoError> {
        let mut fields = Reader(der::only(der::only(bytes, FIELD_1)?, SEQUENCE)?);
        let read = Self {
            state: fields.field(FIELD_0, ENUMERATED)?.map(NegState::from_wire).transpose()?,
            mechanism: fields.field(FIELD_1, OBJECT_IDENTIFIER)?,
            token: fields.field(FIELD_2, OCTET_STRING)?,
            list_mic: fields.field(FIELD_3, OCTET_STRING)?,
        };
        fields.finish()?;
        Ok(read)
    }
}

impl NegState {
    fn from_wire(bytes: &[u8]) -> Result<Self, SpnegoError> {
        match bytes {
            [0] => Ok(Self::Completed),
            [1] => Ok(Self::Incomplete),
            [2] => Ok(Self::Rejected),
            [3] => Ok(Self::RequestMic),
            [state] => Err(SpnegoError::State { state: *state }),
            _ => Err(SpnegoError::Length),
        }
    }
}
