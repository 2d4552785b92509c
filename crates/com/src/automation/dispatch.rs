//! IDispatch: an object's members by name.

use super::bstr::Bstr;
use super::variant::Variant;
use super::{DISPATCH_METHOD, DISPATCH_PROPERTYGET, DISPATCH_PROPERTYPUT, DISPID_PROPERTYPUT};
use crate::error::{Error, Result, code};
use crate::rt::check;
use std::ffi::c_void;
use widestring::U16CString;
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// An object whose members are called by name.
#[repr(transparent)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IDispatch(IUnknown);

// SAFETY: a transparent wrapper of an interface pointer whose vtable is the one below.
unsafe impl Interface for IDispatch {
    type Vtable = IDispatch_Vtbl;
    const IID: GUID = GUID::from_u128(0x00020400_0000_0000_c000_000000000046);
}

windows_core::imp::interface_hierarchy!(IDispatch, IUnknown);

/// The arguments of a call by name, as C has them.
#[repr(C)]
#[derive(Debug)]
pub struct DispParams {
    /// The arguments, the last one first; those with names come before all others.
    pub arguments: *mut Variant,
    /// Whose the first of them are.
    pub names: *mut i32,
    /// How many arguments there are.
    pub count: u32,
    /// How many of them have names.
    pub named: u32,
}

/// How a call by name failed, as C has it.
#[repr(C)]
#[derive(Debug, Default)]
pub struct ExcepInfo {
    /// A number of the object's own, or 0 where `scode` says it.
    pub code: u16,
    /// Nothing.
    pub reserved: u16,
    /// What failed.
    pub source: Bstr,
    /// In words.
    pub description: Bstr,
    /// Where there is more about it.
    pub help_file: Bstr,
    /// What to look for there.
    pub help_context: u32,
    /// Nothing.
    pub reserved_pointer: usize,
    /// A function of C's that fills in the rest; this library has none, and calls none.
    pub fill_in: usize,
    /// The HRESULT.
    pub scode: HRESULT,
}

/// The vtable of [`IDispatch`].
#[repr(C)]
#[allow(non_camel_case_types, non_snake_case, missing_docs, reason = "the names of the COM literature")]
pub struct IDispatch_Vtbl {
    pub base__: IUnknown_Vtbl,
    pub GetTypeInfoCount: unsafe extern "system" fn(this: *mut c_void, count: *mut u32) -> HRESULT,
    pub GetTypeInfo:
        unsafe extern "system" fn(this: *mut c_void, index: u32, lcid: u32, info: *mut *mut c_void) -> HRESULT,
    pub GetIDsOfNames: unsafe extern "system" fn(
        this: *mut c_void,
        iid: *const GUID,
        names: *const *const u16,
        count: u32,
        lcid: u32,
        ids: *mut i32,
    ) -> HRESULT,
    pub Invoke: unsafe extern "system" fn(
        this: *mut c_void,
        id: i32,
        iid: *const GUID,
        lcid: u32,
        flags: u16,
        arguments: *mut DispParams,
        result: *mut Variant,
        exception: *mut ExcepInfo,
        wrong: *mut u32,
    ) -> HRESULT,
}

impl IDispatch {
    /// The DISPIDs of a member, and of parameters of it.
    ///
    /// # Errors
    ///
    /// DISP_E_UNKNOWNNAME where there is none of one of the names; otherwise as for every call.
    pub fn ids(&self, names: &[&str]) -> Result<Vec<i32>> {
        let wide: Vec<U16CString> = names
            .iter()
            .map(|name| U16CString::from_str(name).map_err(|error| Error::new(code::E_INVALIDARG, error.to_string())))
            .collect::<Result<_>>()?;
        let pointers: Vec<*const u16> = wide.iter().map(|name| name.as_ptr()).collect();
        let mut ids = vec![-1; names.len()];
        // SAFETY: an interface pointer's vtable is its interface's; there are as many places as names.
        let outcome = unsafe {
            (self.vtable().GetIDsOfNames)(
                self.as_raw(),
                &GUID::zeroed(),
                pointers.as_ptr(),
                names.len() as u32,
                0,
                ids.as_mut_ptr(),
            )
        };
        match check(outcome) {
            Ok(()) => Ok(ids),
            Err(error) if error.code() == code::DISP_E_UNKNOWNNAME => {
                Err(Error::new(code::DISP_E_UNKNOWNNAME, format!("the object has no `{}`", names.join("`, `"))))
            }
            Err(error) => Err(error),
        }
    }

    /// Uses a member: `flags` says how, by `DISPATCH_METHOD` and its kin. Arguments are in the order of the parameters; those in `named` are
    /// for the parameters with these DISPIDs.
    ///
    /// # Errors
    ///
    /// Why the member's method failed; DISP_E_ codes for calls that do not fit it; otherwise as for every call.
    pub fn invoke(&self, id: i32, flags: u16, arguments: &[Variant], named: &[(i32, Variant)]) -> Result<Variant> {
        let (mut names, mut all): (Vec<i32>, Vec<Variant>) = named.iter().cloned().unzip();
        for argument in arguments.iter().rev() {
            // By reference they lead where the caller's do.
            all.push(match argument.target() {
                // SAFETY: as long as the caller's.
                Some((vt, to)) => unsafe { Variant::by_reference(vt, to.cast()) },
                None => argument.copy()?,
            });
        }
        let mut given = DispParams {
            arguments: all.as_mut_ptr(),
            names: names.as_mut_ptr(),
            count: all.len() as u32,
            named: names.len() as u32,
        };
        let (mut result, mut exception, mut wrong) = (Variant::new(), ExcepInfo::default(), u32::MAX);
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let outcome = unsafe {
            (self.vtable().Invoke)(
                self.as_raw(),
                id,
                &GUID::zeroed(),
                0,
                flags,
                &raw mut given,
                &raw mut result,
                &raw mut exception,
                &raw mut wrong,
            )
        };
        match check(outcome) {
            Ok(()) => Ok(result),
            Err(error) => Err(exception.error(error)),
        }
    }

    /// Calls a method by its name.
    ///
    /// # Errors
    ///
    /// As for [`Self::ids`] and [`Self::invoke`].
    pub fn call(&self, name: &str, arguments: &[Variant]) -> Result<Variant> {
        self.invoke(self.ids(&[name])?[0], DISPATCH_METHOD, arguments, &[])
    }

    /// Reads a property; one with parameters has arguments.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`].
    pub fn get(&self, name: &str, arguments: &[Variant]) -> Result<Variant> {
        self.invoke(self.ids(&[name])?[0], DISPATCH_PROPERTYGET, arguments, &[])
    }

    /// Sets a property.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`].
    pub fn put(&self, name: &str, arguments: &[Variant], value: Variant) -> Result<()> {
        let id = self.ids(&[name])?[0];
        self.invoke(id, DISPATCH_PROPERTYPUT, arguments, &[(DISPID_PROPERTYPUT, value)]).map(drop)
    }
}

impl ExcepInfo {
    /// The error that it tells of, or else what the call ended with.
    fn error(&self, outcome: Error) -> Error {
        let is_told = outcome.code() == code::DISP_E_EXCEPTION && self.scode.0 < 0;
        let failure = if is_told { self.scode } else { outcome.code() };
        match (self.description.is_empty(), is_told) {
            (false, _) => Error::new(failure, self.description.to_string()),
            (true, true) => failure.into(),
            (true, false) => outcome,
        }
    }
}
