//! An object whose methods return plain HRESULTs, as in COM's interfaces. Its methods fail with and
//! without error information, and succeed with error information.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done};
use crate::state::State;
use crate::{IListener, IListener_Impl};
use obvia::dcom::{IClassFactory, IClassFactory_Impl};
use obvia::{Error, GUID, HRESULT, code};
use std::ffi::c_void;

/// The error text of the failed call.
const FAILURE: &str = "the text of this call";

/// The object is agile, because interfaces from IDL files are agile.
#[obvia::object(IClassFactory, IListener)]
struct ErrorSetter;

impl IListener_Impl for ErrorSetter_Impl {
    fn Heard(&self, value: i32) -> obvia::Result<i32> {
        Ok(value)
    }
}

impl IClassFactory_Impl for ErrorSetter_Impl {
    unsafe fn CreateInstance(&self, _: *mut c_void, _: *const GUID, _: *mut *mut c_void) -> HRESULT {
        obvia::rt::fail(Error::new(code::E_FAIL, FAILURE))
    }

    unsafe fn LockServer(&self, stays: i32) -> HRESULT {
        if stays == 0 {
            return code::E_FAIL;
        }
        let _ = obvia::rt::fail(Error::new(code::E_FAIL, "the text of a call that has succeeded"));
        code::S_OK
    }
}

/// Exports the object.
pub(crate) fn export(state: &mut State, name: &str) -> Answer {
    done(state.exports.push(obvia::export(name, IClassFactory::from(ErrorSetter))?))
}

/// Calls the object, and checks that the error information belongs to the failed call.
pub(crate) fn check(place: &str) -> Answer {
    let object: IClassFactory = obvia::connect(place)?;
    for _ in 0..3 {
        object.lock_server(true)?;
        for expected in [None, Some(FAILURE), None] {
            let failed = match expected {
                Some(_) => object.create_instance::<IClassFactory>().map(drop),
                None => object.lock_server(false),
            };
            let error = failed.err().filter(|error| error.code() == code::E_FAIL).ok_or(code::E_UNEXPECTED)?;
            if error.detail() != expected {
                return Err(Error::new(code::E_UNEXPECTED, format!("{:?} instead of {expected:?}", error.detail())));
            }
        }
    }
    Ok(String::new())
}
