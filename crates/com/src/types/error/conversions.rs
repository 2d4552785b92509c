//! Conversions to [`Error`], for `?`.

use super::{Error, code};
use obvia_rpc::co::pdu::BindNak;
use obvia_rpc::co::{AssociationError, DirectError};
use obvia_rpc::epm::{self, MapError};
use obvia_rpc::security::SecurityError;
use obvia_rpc::status::Status;
use obvia_rpc::vi_call::CallError;
use obvia_via::Error as ViError;
use std::io::{self, ErrorKind};
use windows_core::HRESULT;

impl From<windows_core::Error> for Error {
    fn from(error: windows_core::Error) -> Self {
        Self { code: error.code(), detail: None, more: None }
    }
}

impl From<Error> for windows_core::Error {
    fn from(error: Error) -> Self {
        Self::from_hresult(error.code)
    }
}

/// The code is E_FAIL, since a text alone says nothing about the kind of failure.
impl From<&str> for Error {
    fn from(text: &str) -> Self {
        Self::new(code::E_FAIL, text)
    }
}

/// The code is E_FAIL, as in the conversion from `&str`.
impl From<String> for Error {
    fn from(text: String) -> Self {
        Self::new(code::E_FAIL, text)
    }
}

/// The common kinds of failure get the HRESULTs that Windows uses for them. All other kinds get
/// E_FAIL.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        let code = match error.kind() {
            ErrorKind::NotFound => code::ERROR_FILE_NOT_FOUND,
            ErrorKind::AlreadyExists => code::ERROR_FILE_EXISTS,
            ErrorKind::PermissionDenied => code::E_ACCESSDENIED,
            ErrorKind::InvalidInput => code::E_INVALIDARG,
            ErrorKind::OutOfMemory => code::E_OUTOFMEMORY,
            ErrorKind::Unsupported => code::E_NOTIMPL,
            _ => code::E_FAIL,
        };
        Self::new(code, error.to_string())
    }
}

/// Converts errors about invalid values to E_INVALIDARG, with their texts.
macro_rules! invalid_argument {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Error {
            fn from(error: $error) -> Self {
                Self::new(code::E_INVALIDARG, error.to_string())
            }
        }
    )*};
}

invalid_argument! {
    std::ffi::NulError,
    std::ffi::FromBytesWithNulError,
    std::ffi::IntoStringError,
    std::num::ParseIntError,
    std::num::ParseFloatError,
    std::num::TryFromIntError,
    std::str::ParseBoolError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::string::FromUtf16Error,
    std::char::ParseCharError,
    widestring::error::ContainsNul<u16>,
    widestring::error::NulError<u16>,
    widestring::error::Utf16Error,
}

impl From<ViError> for Error {
    fn from(error: ViError) -> Self {
        let code = match &error {
            ViError::NotFound { .. } => code::RPC_S_SERVER_UNAVAILABLE,
            ViError::NameInUse { .. } => code::RPC_S_DUPLICATE_ENDPOINT,
            ViError::BadName { .. } | ViError::ForeignFile { .. } => code::E_INVALIDARG,
            ViError::AccessDenied { .. } | ViError::UnsafeDirectory { .. } | ViError::UnsafeCapture { .. } => {
                code::E_ACCESSDENIED
            }
            ViError::System { source, .. } if source.kind() == ErrorKind::PermissionDenied => code::E_ACCESSDENIED,
            ViError::Refused { .. } => code::RPC_S_SERVER_UNAVAILABLE,
            ViError::Names { source, .. } if source.kind() == ErrorKind::PermissionDenied => code::E_ACCESSDENIED,
            ViError::BadAddress { .. } | ViError::Unsupported { .. } => code::E_INVALIDARG,
            ViError::PeerGone { .. } | ViError::Disconnected { .. } => code::RPC_E_DISCONNECTED,
            ViError::TimedOut => code::RPC_E_TIMEOUT,
            ViError::Cancelled => code::RPC_E_CALL_CANCELED,
            ViError::TooLong { .. } | ViError::PeerAtLimit { .. } | ViError::AreaRefused { .. } => code::E_OUTOFMEMORY,
            ViError::Violation(_) => code::RPC_E_INVALID_DATA,
            ViError::Relay { source } => source.downcast_ref().map_or(code::E_FAIL, code_of),
            _ => code::E_FAIL,
        };
        Self::new(code, error.to_string())
    }
}

/// Returns the HRESULT for an association that failed: a specific one for a failed authentication,
/// E_FAIL for any other reason.
fn code_of(error: &AssociationError) -> HRESULT {
    match error {
        AssociationError::Refused { reason: BindNak::CHECKSUM } => code::E_ACCESSDENIED,
        AssociationError::Refused { reason: BindNak::AUTH_TYPE } => code::RPC_S_UNKNOWN_AUTHN_SERVICE,
        AssociationError::Security(error) => code_of_security(error),
        _ => code::E_FAIL,
    }
}

fn code_of_security(error: &SecurityError) -> HRESULT {
    match error {
        SecurityError::Denied => code::E_ACCESSDENIED,
        SecurityError::UnknownType(_) => code::RPC_S_UNKNOWN_AUTHN_SERVICE,
        _ => code::RPC_S_SEC_PKG_ERROR,
    }
}

impl From<SecurityError> for Error {
    fn from(error: SecurityError) -> Self {
        Self::new(code_of_security(&error), error.to_string())
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Connection(error) => error.into(),
            CallError::Fault(status) => status.into(),
            CallError::Failed(status, words) => Self::of_words(HRESULT(status.cast_signed()), words),
            error => Self::new(code::RPC_E_INVALID_DATA, error.to_string()),
        }
    }
}

impl From<DirectError> for Error {
    fn from(error: DirectError) -> Self {
        match error {
            DirectError::Connection(error) => error.into(),
            DirectError::Fault(status) => status.into(),
            DirectError::NoInterface(_) => Self::new(code::RPC_S_UNKNOWN_IF, error.to_string()),
            error => Self::new(code::RPC_E_INVALID_DATA, error.to_string()),
        }
    }
}

impl From<MapError> for Error {
    fn from(error: MapError) -> Self {
        let code = match error {
            MapError::Status(epm::NOT_REGISTERED) => code::EPT_S_NOT_REGISTERED,
            MapError::Status(_) => code::EPT_S_CANT_PERFORM_OP,
            _ => code::RPC_E_INVALID_DATA,
        };
        Self::new(code, error.to_string())
    }
}

impl From<Status> for Error {
    fn from(status: Status) -> Self {
        Self::new(HRESULT(status.to_hresult()), CallError::Fault(status).to_string())
    }
}

#[cfg(test)]
mod tests {
    use crate::Error;
    use crate::Result;
    use crate::U16CString;
    use crate::code;
    use windows_core::HRESULT;

    fn said(result: Result<()>) -> (HRESULT, String) {
        let error = result.unwrap_err();
        (error.code(), error.detail().unwrap_or_default().to_owned())
    }

    #[test]
    fn standard_library_errors_keep_their_text() {
        let missing = || Ok(std::fs::read_to_string("/nowhere/at/all").map(drop)?);
        assert_eq!(said(missing()), (code::ERROR_FILE_NOT_FOUND, "No such file or directory (os error 2)".to_owned()));
        let denied = || Err(std::io::Error::from(std::io::ErrorKind::PermissionDenied))?;
        assert_eq!(said(denied()).0, code::E_ACCESSDENIED);
        let number = || Ok("7x".parse::<i32>().map(drop)?);
        assert_eq!(said(number()), (code::E_INVALIDARG, "invalid digit found in string".to_owned()));
        let wide = || Ok(U16CString::from_str("a\0b").map(drop)?);
        assert_eq!(said(wide()).0, code::E_INVALIDARG);
        let text = || Err("the drawer is stuck")?;
        assert_eq!(said(text()), (code::E_FAIL, "the drawer is stuck".to_owned()));
        assert_eq!(Error::from("the drawer is stuck".to_owned()), Error::from("the drawer is stuck"));
    }
}
