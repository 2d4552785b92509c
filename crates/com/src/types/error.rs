//! Errors: an HRESULT, and a text that explains it.

mod conversions;
mod panics;

pub(crate) use panics::guarded;
pub use panics::{guard, set_panic_texts, unforeseen};

use obvia_rpc::status::Status;
use obvia_rpc::vi_call::Words;
use obvia_via::window::{Alarm, Peer};
use std::cell::RefCell;
use std::fmt;
use windows_core::HRESULT;

/// The result of a call or of an operation of the runtime.
pub type Result<T> = std::result::Result<T, Error>;

/// An HRESULT, with an explanation, a source and a help file if they are known.
#[derive(Clone, PartialEq, Eq)]
pub struct Error {
    code: HRESULT,
    detail: Option<Box<str>>,
    more: Option<Box<More>>,
}

/// The remaining fields of COM's error information (MS-DCOM 2.2.21). They are boxed, so that
/// [`Error`] stays small: with a larger `Error`, calls with structures take up to nine more
/// instructions.
#[derive(Clone, Default, PartialEq, Eq)]
struct More {
    source: String,
    help_file: String,
    help_context: u32,
}

/// The HRESULTs that the runtime itself returns, by their names in the COM literature.
pub mod code {
    use windows_core::HRESULT;

    /// No error.
    pub const S_OK: HRESULT = HRESULT(0);
    /// The object does not support the interface.
    pub const E_NOINTERFACE: HRESULT = HRESULT(0x8000_4002_u32.cast_signed());
    /// A pointer that must not be null is null.
    pub const E_POINTER: HRESULT = HRESULT(0x8000_4003_u32.cast_signed());
    /// Only a part was done; a success code.
    pub const S_FALSE: HRESULT = HRESULT(1);
    /// Not implemented.
    pub const E_NOTIMPL: HRESULT = HRESULT(0x8000_4001_u32.cast_signed());
    /// The object is not registered with its exporter (CO_E_OBJNOTREG).
    pub const CO_E_OBJNOTREG: HRESULT = HRESULT(0x8004_01fb_u32.cast_signed());
    /// The marshaled object is gone, or the process that has an object in an argument is gone
    /// (CO_E_OBJNOTCONNECTED).
    pub const CO_E_OBJNOTCONNECTED: HRESULT = HRESULT(0x8004_01fd_u32.cast_signed());
    /// The connection or the connection point does not exist (CONNECT_E_NOCONNECTION).
    pub const CONNECT_E_NOCONNECTION: HRESULT = HRESULT(0x8004_0200_u32.cast_signed());
    /// The connection point takes no more sinks (CONNECT_E_ADVISELIMIT).
    pub const CONNECT_E_ADVISELIMIT: HRESULT = HRESULT(0x8004_0201_u32.cast_signed());
    /// The sink does not fit the connection point (CONNECT_E_CANNOTCONNECT).
    pub const CONNECT_E_CANNOTCONNECT: HRESULT = HRESULT(0x8004_0202_u32.cast_signed());
    /// The class is not registered (REGDB_E_CLASSNOTREG).
    pub const REGDB_E_CLASSNOTREG: HRESULT = HRESULT(0x8004_0154_u32.cast_signed());
    /// Objects of the class cannot be aggregated (CLASS_E_NOAGGREGATION).
    pub const CLASS_E_NOAGGREGATION: HRESULT = HRESULT(0x8004_0110_u32.cast_signed());
    /// The library has no such class (CLASS_E_CLASSNOTAVAILABLE).
    pub const CLASS_E_CLASSNOTAVAILABLE: HRESULT = HRESULT(0x8004_0111_u32.cast_signed());
    /// The library of a class cannot be loaded (CO_E_DLLNOTFOUND).
    pub const CO_E_DLLNOTFOUND: HRESULT = HRESULT(0x8004_01f8_u32.cast_signed());
    /// The library of a class does not export COM's functions (CO_E_ERRORINDLL).
    pub const CO_E_ERRORINDLL: HRESULT = HRESULT(0x8004_01f9_u32.cast_signed());
    /// No class has the name (CO_E_CLASSSTRING).
    pub const CO_E_CLASSSTRING: HRESULT = HRESULT(0x8004_01f3_u32.cast_signed());
    /// The server of a class could not be started, or did not register the class
    /// (CO_E_SERVER_EXEC_FAILURE).
    pub const CO_E_SERVER_EXEC_FAILURE: HRESULT = HRESULT(0x8008_0005_u32.cast_signed());
    /// Unspecified failure.
    pub const E_FAIL: HRESULT = HRESULT(0x8000_4005_u32.cast_signed());
    /// The method panicked, or an internal error occurred.
    pub const E_UNEXPECTED: HRESULT = HRESULT(0x8000_ffff_u32.cast_signed());
    /// An argument is wrong.
    pub const E_INVALIDARG: HRESULT = HRESULT(0x8007_0057_u32.cast_signed());
    /// Memory, or a limit on it, is exhausted.
    pub const E_OUTOFMEMORY: HRESULT = HRESULT(0x8007_000e_u32.cast_signed());
    /// There is no such file (ERROR_FILE_NOT_FOUND).
    pub const ERROR_FILE_NOT_FOUND: HRESULT = HRESULT(0x8007_0002_u32.cast_signed());
    /// There is such a file already (ERROR_FILE_EXISTS).
    pub const ERROR_FILE_EXISTS: HRESULT = HRESULT(0x8007_0050_u32.cast_signed());
    /// Access denied.
    pub const E_ACCESSDENIED: HRESULT = HRESULT(0x8007_0005_u32.cast_signed());
    /// The object or its server is gone.
    pub const RPC_E_DISCONNECTED: HRESULT = HRESULT(0x8001_0108_u32.cast_signed());
    /// The call was cancelled.
    pub const RPC_E_CALL_CANCELED: HRESULT = HRESULT(0x8001_0002_u32.cast_signed());
    /// The deadline passed.
    pub const RPC_E_TIMEOUT: HRESULT = HRESULT(0x8001_011f_u32.cast_signed());
    /// The peer sent data that breaks the rules of its transfer syntax.
    pub const RPC_E_INVALID_DATA: HRESULT = HRESULT(0x8001_000f_u32.cast_signed());
    /// The server answered with a fault.
    pub const RPC_E_SERVERFAULT: HRESULT = HRESULT(0x8001_0105_u32.cast_signed());
    /// No object has this interface pointer identifier (IPID).
    pub const RPC_E_INVALID_OBJECT: HRESULT = HRESULT(0x8001_0114_u32.cast_signed());
    /// The object reference is invalid.
    pub const RPC_E_INVALID_OBJREF: HRESULT = HRESULT(0x8001_011d_u32.cast_signed());
    /// Two descriptions of an interface differ, or the peer uses another version of a protocol.
    pub const RPC_E_VERSION_MISMATCH: HRESULT = HRESULT(0x8001_0110_u32.cast_signed());
    /// No server listens at the name or address, or the server cannot be reached
    /// (RPC_S_SERVER_UNAVAILABLE).
    pub const RPC_S_SERVER_UNAVAILABLE: HRESULT = HRESULT(0x8007_06ba_u32.cast_signed());
    /// The peer does not support this authentication service, or supports no authentication
    /// (RPC_S_UNKNOWN_AUTHN_SERVICE).
    pub const RPC_S_UNKNOWN_AUTHN_SERVICE: HRESULT = HRESULT(0x8007_06d3_u32.cast_signed());
    /// An authentication token or a signature is wrong (RPC_S_SEC_PKG_ERROR).
    pub const RPC_S_SEC_PKG_ERROR: HRESULT = HRESULT(0x8007_0721_u32.cast_signed());
    /// The name is taken (RPC_S_DUPLICATE_ENDPOINT).
    pub const RPC_S_DUPLICATE_ENDPOINT: HRESULT = HRESULT(0x8007_06cc_u32.cast_signed());
    /// The server does not perform the interface (RPC_S_UNKNOWN_IF).
    pub const RPC_S_UNKNOWN_IF: HRESULT = HRESULT(0x8007_06b5_u32.cast_signed());
    /// The process listens at no endpoint that could be registered (RPC_S_NO_BINDINGS).
    pub const RPC_S_NO_BINDINGS: HRESULT = HRESULT(0x8007_06b6_u32.cast_signed());
    /// The endpoint mapper cannot perform the operation (EPT_S_CANT_PERFORM_OP).
    pub const EPT_S_CANT_PERFORM_OP: HRESULT = HRESULT(0x8007_06d8_u32.cast_signed());
    /// The endpoint mapper knows no endpoint of the interface (EPT_S_NOT_REGISTERED).
    pub const EPT_S_NOT_REGISTERED: HRESULT = HRESULT(0x8007_06d9_u32.cast_signed());
    /// The process performs the interface already (RPC_S_TYPE_ALREADY_REGISTERED).
    pub const RPC_S_TYPE_ALREADY_REGISTERED: HRESULT = HRESULT(0x8007_06b0_u32.cast_signed());
    /// The server did not issue the context handle to its caller (RPC_X_SS_CONTEXT_MISMATCH).
    pub const RPC_X_SS_CONTEXT_MISMATCH: HRESULT = HRESULT(0x8007_06ef_u32.cast_signed());
    /// The process does not know how to call this interface (REGDB_E_IIDNOTREG).
    pub const REGDB_E_IIDNOTREG: HRESULT = HRESULT(0x8004_0155_u32.cast_signed());
    /// The IID of a late-bound call is not IID_NULL (DISP_E_UNKNOWNINTERFACE).
    pub const DISP_E_UNKNOWNINTERFACE: HRESULT = HRESULT(0x8002_0001_u32.cast_signed());
    /// The object has no such member, or the member cannot be used as the caller requests.
    pub const DISP_E_MEMBERNOTFOUND: HRESULT = HRESULT(0x8002_0003_u32.cast_signed());
    /// An argument names an unknown parameter, or a parameter that already has an argument. As the
    /// value of a VARIANT: the argument is omitted.
    pub const DISP_E_PARAMNOTFOUND: HRESULT = HRESULT(0x8002_0004_u32.cast_signed());
    /// A value cannot be converted to the requested type.
    pub const DISP_E_TYPEMISMATCH: HRESULT = HRESULT(0x8002_0005_u32.cast_signed());
    /// The object has no member of that name.
    pub const DISP_E_UNKNOWNNAME: HRESULT = HRESULT(0x8002_0006_u32.cast_signed());
    /// The type of a value is no VARIANT type.
    pub const DISP_E_BADVARTYPE: HRESULT = HRESULT(0x8002_0008_u32.cast_signed());
    /// The method failed; an EXCEPINFO describes the failure.
    pub const DISP_E_EXCEPTION: HRESULT = HRESULT(0x8002_0009_u32.cast_signed());
    /// A value is beyond the range of the requested type.
    pub const DISP_E_OVERFLOW: HRESULT = HRESULT(0x8002_000a_u32.cast_signed());
    /// An index is outside of its array.
    pub const DISP_E_BADINDEX: HRESULT = HRESULT(0x8002_000b_u32.cast_signed());
    /// An array is locked.
    pub const DISP_E_ARRAYISLOCKED: HRESULT = HRESULT(0x8002_000d_u32.cast_signed());
    /// The member does not accept this number of arguments.
    pub const DISP_E_BADPARAMCOUNT: HRESULT = HRESULT(0x8002_000e_u32.cast_signed());
    /// A required parameter is missing.
    pub const DISP_E_PARAMNOTOPTIONAL: HRESULT = HRESULT(0x8002_000f_u32.cast_signed());
}

impl Error {
    /// Makes an error with a text.
    pub fn new(code: HRESULT, detail: impl Into<String>) -> Self {
        Self { code, detail: Some(detail.into().into_boxed_str()), more: None }
    }

    /// Returns the same error with its source: the name of the object or component that reports it,
    /// as in COM's error information. The source reaches callers in other processes.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.more.get_or_insert_default().source = source.into();
        self
    }

    /// Returns the same error with a help file and the context number in it.
    #[must_use]
    pub fn with_help(mut self, file: impl Into<String>, context: u32) -> Self {
        let more = self.more.get_or_insert_default();
        (more.help_file, more.help_context) = (file.into(), context);
        self
    }

    /// Returns the name of the object or component that reports the error, if there is one.
    pub fn source_name(&self) -> Option<&str> {
        self.more.as_deref().map(|more| &*more.source).filter(|source| !source.is_empty())
    }

    /// Returns the help file and the context number in it, if there is a help file.
    pub fn help(&self) -> Option<(&str, u32)> {
        self.more.as_deref().filter(|more| !more.help_file.is_empty()).map(|more| (&*more.help_file, more.help_context))
    }

    /// Makes an error from the error information that a server sent.
    pub(crate) fn of_words(code: HRESULT, words: Words) -> Self {
        let Words { description, source, help_file, help_context } = words;
        let detail = Some(description).filter(|text| !text.is_empty()).map(String::into_boxed_str);
        let more = More { source, help_file, help_context };
        Self { code, detail, more: Some(Box::new(more)).filter(|more| **more != More::default()) }
    }

    /// Returns the error information that callers in other processes receive.
    pub(crate) fn to_words(&self) -> Words {
        let More { source, help_file, help_context } = self.more.as_deref().cloned().unwrap_or_default();
        Words { description: self.detail().unwrap_or_default().to_owned(), source, help_file, help_context }
    }

    /// Returns the HRESULT.
    pub fn code(&self) -> HRESULT {
        self.code
    }

    /// Returns an error with the same HRESULT, and with the text that `detail` makes of the
    /// existing text. Source and help file are dropped.
    pub(crate) fn with_detail(&self, detail: impl FnOnce(&str) -> String) -> Self {
        Self::new(self.code, detail(self.detail().unwrap_or_default()))
    }

    /// Returns the explanation, if there is one.
    pub fn detail(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.detail, name_of(self.code)) {
            (Some(detail), Some(name)) => write!(f, "{detail} ({name})"),
            (Some(detail), None) => write!(f, "{detail} ({:#010x})", self.code.0),
            (None, Some(name)) => f.write_str(name),
            (None, None) => write!(f, "HRESULT {:#010x}", self.code.0),
        }
    }
}

fn name_of(hresult: HRESULT) -> Option<&'static str> {
    Some(match hresult {
        code::E_NOINTERFACE => "E_NOINTERFACE",
        code::E_NOTIMPL => "E_NOTIMPL",
        code::CO_E_OBJNOTREG => "CO_E_OBJNOTREG",
        code::CO_E_OBJNOTCONNECTED => "CO_E_OBJNOTCONNECTED",
        code::CONNECT_E_NOCONNECTION => "CONNECT_E_NOCONNECTION",
        code::CONNECT_E_ADVISELIMIT => "CONNECT_E_ADVISELIMIT",
        code::CONNECT_E_CANNOTCONNECT => "CONNECT_E_CANNOTCONNECT",
        code::REGDB_E_CLASSNOTREG => "REGDB_E_CLASSNOTREG",
        code::CLASS_E_NOAGGREGATION => "CLASS_E_NOAGGREGATION",
        code::CLASS_E_CLASSNOTAVAILABLE => "CLASS_E_CLASSNOTAVAILABLE",
        code::CO_E_DLLNOTFOUND => "CO_E_DLLNOTFOUND",
        code::CO_E_ERRORINDLL => "CO_E_ERRORINDLL",
        code::CO_E_CLASSSTRING => "CO_E_CLASSSTRING",
        code::CO_E_SERVER_EXEC_FAILURE => "CO_E_SERVER_EXEC_FAILURE",
        code::E_POINTER => "E_POINTER",
        code::E_FAIL => "E_FAIL",
        code::E_UNEXPECTED => "E_UNEXPECTED",
        code::E_INVALIDARG => "E_INVALIDARG",
        code::E_OUTOFMEMORY => "E_OUTOFMEMORY",
        code::ERROR_FILE_NOT_FOUND => "ERROR_FILE_NOT_FOUND",
        code::ERROR_FILE_EXISTS => "ERROR_FILE_EXISTS",
        code::E_ACCESSDENIED => "E_ACCESSDENIED",
        code::RPC_E_DISCONNECTED => "RPC_E_DISCONNECTED",
        code::RPC_E_CALL_CANCELED => "RPC_E_CALL_CANCELED",
        code::RPC_E_TIMEOUT => "RPC_E_TIMEOUT",
        code::RPC_E_INVALID_DATA => "RPC_E_INVALID_DATA",
        code::RPC_E_SERVERFAULT => "RPC_E_SERVERFAULT",
        code::RPC_E_INVALID_OBJECT => "RPC_E_INVALID_OBJECT",
        code::RPC_E_INVALID_OBJREF => "RPC_E_INVALID_OBJREF",
        code::RPC_E_VERSION_MISMATCH => "RPC_E_VERSION_MISMATCH",
        code::RPC_S_UNKNOWN_AUTHN_SERVICE => "RPC_S_UNKNOWN_AUTHN_SERVICE",
        code::RPC_S_SEC_PKG_ERROR => "RPC_S_SEC_PKG_ERROR",
        code::RPC_S_SERVER_UNAVAILABLE => "RPC_S_SERVER_UNAVAILABLE",
        code::RPC_S_DUPLICATE_ENDPOINT => "RPC_S_DUPLICATE_ENDPOINT",
        code::RPC_S_UNKNOWN_IF => "RPC_S_UNKNOWN_IF",
        code::RPC_S_TYPE_ALREADY_REGISTERED => "RPC_S_TYPE_ALREADY_REGISTERED",
        code::RPC_S_NO_BINDINGS => "RPC_S_NO_BINDINGS",
        code::EPT_S_CANT_PERFORM_OP => "EPT_S_CANT_PERFORM_OP",
        code::EPT_S_NOT_REGISTERED => "EPT_S_NOT_REGISTERED",
        code::RPC_X_SS_CONTEXT_MISMATCH => "RPC_X_SS_CONTEXT_MISMATCH",
        code::REGDB_E_IIDNOTREG => "REGDB_E_IIDNOTREG",
        code::DISP_E_UNKNOWNINTERFACE => "DISP_E_UNKNOWNINTERFACE",
        code::DISP_E_MEMBERNOTFOUND => "DISP_E_MEMBERNOTFOUND",
        code::DISP_E_PARAMNOTFOUND => "DISP_E_PARAMNOTFOUND",
        code::DISP_E_TYPEMISMATCH => "DISP_E_TYPEMISMATCH",
        code::DISP_E_UNKNOWNNAME => "DISP_E_UNKNOWNNAME",
        code::DISP_E_BADVARTYPE => "DISP_E_BADVARTYPE",
        code::DISP_E_EXCEPTION => "DISP_E_EXCEPTION",
        code::DISP_E_OVERFLOW => "DISP_E_OVERFLOW",
        code::DISP_E_BADINDEX => "DISP_E_BADINDEX",
        code::DISP_E_ARRAYISLOCKED => "DISP_E_ARRAYISLOCKED",
        code::DISP_E_BADPARAMCOUNT => "DISP_E_BADPARAMCOUNT",
        code::DISP_E_PARAMNOTOPTIONAL => "DISP_E_PARAMNOTOPTIONAL",
        _ => return None,
    })
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The standard library prints the error that `main` returns in this format.
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

impl From<HRESULT> for Error {
    fn from(code: HRESULT) -> Self {
        Self { code, detail: None, more: None }
    }
}

thread_local! {
    /// The error that was left last on this thread. A method of a vtable returns only an HRESULT.
    /// The method therefore leaves the whole error here, and the caller's wrapper takes it.
    static LAST: RefCell<Option<PendingError>> = const { RefCell::new(None) };
    /// The connection whose calls this thread performs, or performed last.
    static CONNECTION: RefCell<Option<ThreadConnection>> = const { RefCell::new(None) };
}

/// A connection whose calls a thread performs.
struct ThreadConnection {
    connection: Alarm,
    /// The user of the peer, if the peer is a process of this host.
    user: Option<u32>,
}

/// Records the connection whose calls this thread performs from now on, and the user of its peer.
pub(crate) fn enter(connection: &Alarm, peer: &Peer) {
    let user = if let Peer::Process { uid, .. } = peer { Some(*uid) } else { None };
    let entered = ThreadConnection { connection: connection.clone(), user };
    let _ = CONNECTION.try_with(|own| own.replace(Some(entered)));
}

/// Records that this thread performs no connection's calls any more.
pub(crate) fn quit() {
    let _ = CONNECTION.try_with(|own| own.replace(None));
}

/// Whether the calls that this thread performs, or performed last, come from a process of the user
/// of this process. True for a thread that has performed no calls.
pub fn is_own_user() -> bool {
    let user = CONNECTION.try_with(|own| own.borrow().as_ref().map(|entered| entered.user)).ok().flatten();
    user.is_none_or(|user| user == Some(rustix::process::geteuid().as_raw()))
}

/// Returns the number of the call that this thread performs, unique within its connection. `None`
/// if the thread performs no call.
fn current_call() -> Option<u64> {
    CONNECTION.try_with(|own| own.borrow().as_ref()?.connection.attended()).ok().flatten()
}

/// An error that was left on a thread for the caller of a method.
struct PendingError {
    error: Error,
    /// The call that the thread performed when the error was left.
    call: Option<u64>,
}

/// Runs `look` with the error that was left last on this thread, if any. Returns `None` on an
/// ending thread whose thread-local variable is destroyed.
fn with_last<R>(look: impl FnOnce(&mut Option<PendingError>) -> R) -> Option<R> {
    LAST.try_with(|last| look(&mut last.borrow_mut())).ok()
}

/// Leaves an error for [`recall`], and returns its HRESULT.
#[cold]
pub(crate) fn leave(error: Error) -> HRESULT {
    let code = error.code;
    // The error is stored with the number of the call: calls that succeed do not clear it, since
    // that would cost instructions in every call.
    let call = current_call();
    with_last(|last| *last = Some(PendingError { error, call }));
    code
}

/// Returns the HRESULT of a result, and leaves its error for [`recall`].
pub(crate) fn result_of(done: Result<()>) -> HRESULT {
    done.map_or_else(leave, |()| code::S_OK)
}

/// A failed HRESULT whose [`Error`] was left on the thread. The value fits a register, as the fast
/// path of a call needs.
#[derive(Debug)]
pub struct Failed(HRESULT);

impl Failed {
    /// Returns the HRESULT.
    #[inline(always)]
    pub fn code(self) -> HRESULT {
        self.0
    }
}

impl From<Error> for Failed {
    #[cold]
    fn from(error: Error) -> Self {
        Self(leave(error))
    }
}

impl From<HRESULT> for Failed {
    #[cold]
    fn from(code: HRESULT) -> Self {
        Self(leave(code.into()))
    }
}

impl From<Failed> for Error {
    #[cold]
    fn from(failed: Failed) -> Self {
        recall(failed.0)
    }
}

/// Returns the HRESULT of the error that was left last on this thread.
pub(crate) fn last_code() -> HRESULT {
    with_last(|last| last.as_ref().map(|left| left.error.code)).flatten().unwrap_or(code::E_UNEXPECTED)
}

/// Drops the error that was left on this thread, if any.
pub(crate) fn forget() {
    with_last(Option::take);
}

/// Takes the error that was left on the thread. Returns its information if it was left during the
/// performed call and has the HRESULT that the method returned.
pub(crate) fn words_for_caller(status: u32) -> Option<Words> {
    let call = current_call();
    let left = with_last(Option::take).flatten().filter(|left| left.call == call)?;
    Some(left.error).filter(|error| error.code == HRESULT(status.cast_signed())).map(|error| error.to_words())
}

/// Returns a copy of the error that was left on the thread if that error has this failed HRESULT,
/// and otherwise an error without a text. The error stays on the thread.
pub(crate) fn words(code: HRESULT) -> Error {
    let left = with_last(|last| last.as_ref().map(|left| left.error.clone())).flatten();
    left.filter(|error| error.code == code).unwrap_or_else(|| code.into())
}

/// Takes the error that was left on the thread, and returns it if it has this failed HRESULT.
/// Otherwise makes an error without a text.
#[cold]
pub(crate) fn recall(code: HRESULT) -> Error {
    let left = with_last(Option::take).flatten().map(|left| left.error);
    left.filter(|error| error.code == code).unwrap_or_else(|| code.into())
}

/// Converts the HRESULT of a method of a vtable to a result.
///
/// # Errors
///
/// A failed HRESULT, with the text that was left for it.
#[inline(always)]
pub fn check(result: HRESULT) -> Result<()> {
    if result.0 < 0 { Err(recall(result)) } else { Ok(()) }
}

#[cold]
pub(crate) fn invalid_reply() -> Error {
    Error::new(code::RPC_E_INVALID_DATA, "the reply's frame does not match the interface")
}

/// Returns the fault for an object that cannot be passed. The code RPC_E_DISCONNECTED is replaced.
/// As a fault, it would mean that the called object is gone and that the arguments have not been
/// read: see [`Status::is_before_arguments`].
pub(crate) fn fault_of(error: &Error) -> Status {
    let code = if error.code() == code::RPC_E_DISCONNECTED { code::CO_E_OBJNOTCONNECTED } else { error.code() };
    Status(code.0.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::{Error, code};

    #[test]
    fn errors_returned_from_main_print_as_messages() {
        let error = Error::new(code::E_INVALIDARG, "the sum is too large");
        assert_eq!(format!("{error:?}"), "the sum is too large (E_INVALIDARG)");
        assert_eq!(format!("{:?}", Error::from(code::RPC_E_TIMEOUT)), "RPC_E_TIMEOUT");
    }
}
