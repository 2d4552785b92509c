//! What generated code uses. Not for hand-written code: it changes with the compiler.

pub use crate::error::code;
pub use crate::frame::{Arrays, Measure, Scalar};
pub use crate::proxy::{Proxy, ProxyCall, ReplyView, UNKNOWN, put_array};
pub use crate::registry::{InterfaceInfo, Remote, VtablePointer};
pub use crate::stub::{ReplyFrame, StubCall, StubFn, guard};
pub use obvia_ndr::flat;
pub use obvia_rpc::status::Status;
pub use std::ffi::c_void;
pub use windows_core::{self, GUID, HRESULT, IUnknown, IUnknown_Vtbl, IUnknownImpl, Interface};

use crate::error::{Result, recall};

/// Turns what a vtable's method returned into a result.
///
/// # Errors
///
/// The HRESULT when it is a failure, with the words that a proxy left for it.
#[inline(always)]
pub fn check(result: HRESULT) -> Result<()> {
    if result.0 < 0 {
        Err(recall(result))
    } else {
        Ok(())
    }
}

/// Turns a method's error into what a vtable's method returns.
#[cold]
pub fn fail(error: crate::Error) -> HRESULT {
    crate::error::leave(error)
}
