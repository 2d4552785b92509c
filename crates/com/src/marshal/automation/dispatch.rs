//! IDispatch: calls of an object's members by name.

use super::bstr::Bstr;
use super::value::Variant;
use super::{DISPATCH_METHOD, DISPATCH_PROPERTYGET, DISPATCH_PROPERTYPUT, DISPID_PROPERTYPUT};
use crate::types::error::check;
use crate::types::error::{Error, Result, code};
use std::ffi::c_void;
use widestring::U16CString;
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// An object whose members are called by name.
#[repr(transparent)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IDispatch(IUnknown);

// SAFETY: a transparent wrapper of an interface pointer with the vtable below.
unsafe impl Interface for IDispatch {
    type Vtable = IDispatch_Vtbl;
    const IID: GUID = GUID::from_u128(0x00020400_0000_0000_c000_000000000046);
}

// SAFETY: IDispatch's vtable begins with IUnknown's.
crate::hierarchy!(unsafe IDispatch: IUnknown);

/// The arguments of a call by name, in C's layout.
#[repr(C)]
#[derive(Debug)]
pub struct DispParams {
    /// The arguments in reverse order; named arguments come first.
    pub arguments: *mut Variant,
    /// The DISPIDs of the named arguments.
    pub names: *mut i32,
    /// The number of arguments.
    pub count: u32,
    /// The number of named arguments.
    pub named: u32,
}

/// The description of a failed call by name, in C's layout.
#[repr(C)]
#[derive(Debug, Default)]
pub struct ExcepInfo {
    /// The object's own number for the error; 0 where `scode` has the error.
    pub code: u16,
    /// Reserved.
    pub reserved: u16,
    /// The name of the program or class that reports the error.
    pub source: Bstr,
    /// The description of the error.
    pub description: Bstr,
    /// The path of the help file that explains the error.
    pub help_file: Bstr,
    /// The number of the topic in the help file.
    pub help_context: u32,
    /// Reserved.
    pub reserved_pointer: usize,
    /// A C function that completes the structure; unused by this library.
    pub fill_in: usize,
    /// The error as an HRESULT, valid where `code` is 0.
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
    /// Returns the DISPIDs of a member and of its parameters. The member's name is the first of
    /// `names`.
    ///
    /// # Errors
    ///
    /// DISP_E_UNKNOWNNAME if one of the names is unknown; otherwise as for every call.
    pub fn ids(&self, names: &[&str]) -> Result<Vec<i32>> {
        let wide: Vec<U16CString> = names
            .iter()
            .map(|name| U16CString::from_str(name).map_err(|error| Error::new(code::E_INVALIDARG, error.to_string())))
            .collect::<Result<_>>()?;
        let pointers: Vec<*const u16> = wide.iter().map(|name| name.as_ptr()).collect();
        let mut ids = vec![-1; names.len()];
        // SAFETY: an interface pointer has its interface's vtable; there is one place for each
        // name.
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
                Err(Error::new(code::DISP_E_UNKNOWNNAME, format!("the object has no member `{}`", names.join("`, `"))))
            }
            Err(error) => Err(error),
        }
    }

    /// Calls a method, or reads or sets a property. `flags` says which, for example
    /// `DISPATCH_METHOD`. `arguments` are in the order of the parameters. `named` has further
    /// arguments, each with the DISPID of its parameter.
    ///
    /// # Errors
    ///
    /// The error of the member's method; a DISP_E_ code for arguments that do not fit the method;
    /// otherwise as for every call.
    pub fn invoke(&self, id: i32, flags: u16, arguments: &[Variant], named: &[(i32, Variant)]) -> Result<Variant> {
        let (mut names, mut all): (Vec<i32>, Vec<Variant>) = named.iter().cloned().unzip();
        for argument in arguments.iter().rev() {
            // The copy of an argument by reference refers to the caller's value, so that the method
            // can change that value.
            all.push(match argument.target() {
                // SAFETY: the copy lives no longer than the caller's argument.
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
        // SAFETY: an interface pointer has its interface's vtable; the arguments live until the
        // call returns.
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

    /// Reads a property. `arguments` are for the parameters of the property, if it has any.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`].
    pub fn get(&self, name: &str, arguments: &[Variant]) -> Result<Variant> {
        self.invoke(self.ids(&[name])?[0], DISPATCH_PROPERTYGET, arguments, &[])
    }

    /// Sets a property to `value`. `arguments` are for the parameters of the property, if it has
    /// any.
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
    /// Returns the error that the structure describes by a text or by a failed HRESULT. If the
    /// structure has neither, returns the outcome of the call.
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
