//! An object whose methods return bare HRESULTs, as COM's interfaces have them, and leave words whether or not they fail.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done};
use crate::state::State;
use crate::{IListener, IListener_Impl};
use obvia::dcom::{IClassFactory, IClassFactory_Impl};
use obvia::{Error, GUID, HRESULT, code};
use std::ffi::c_void;
use windows_core::implement;

const OWN: &str = "the words of this call";

/// Any thread may use it, as an interface of an IDL file says.
#[implement(IClassFactory, IListener)]
struct Careless;

impl IListener_Impl for Careless_Impl {
    fn Heard(&self, value: i32) -> obvia::Result<i32> {
        Ok(value)
    }
}

impl IClassFactory_Impl for Careless_Impl {
    unsafe fn CreateInstance(&self, _: *mut c_void, _: *const GUID, _: *mut *mut c_void) -> HRESULT {
        obvia::rt::fail(Error::new(code::E_FAIL, OWN))
    }

    unsafe fn LockServer(&self, stays: i32) -> HRESULT {
        if stays == 0 {
            return code::E_FAIL;
        }
        let _ = obvia::rt::fail(Error::new(code::E_FAIL, "words of a call that has succeeded"));
        code::S_OK
    }
}

/// Exports such an object.
pub(crate) fn export(state: &mut State, name: &str) -> Answer {
    done(state.exports.push(obvia::export(name, IClassFactory::from(Careless))?))
}

/// Calls one, and says which words do not belong to their call.
pub(crate) fn check(place: &str) -> Answer {
    let object: IClassFactory = obvia::connect(place)?;
    for _ in 0..3 {
        object.lock_server(true)?;
        for told in [None, Some(OWN), None] {
            let failed = match told {
                Some(_) => object.create_instance::<IClassFactory>().map(drop),
                None => object.lock_server(false),
            };
            let heard = failed.err().filter(|error| error.code() == code::E_FAIL).ok_or(code::E_UNEXPECTED)?;
            if heard.detail() != told {
                return Err(Error::new(code::E_UNEXPECTED, format!("{:?} instead of {told:?}", heard.detail())));
            }
        }
    }
    Ok(String::new())
}
