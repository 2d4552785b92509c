//! IDispatch across processes. The wire form of `Invoke` differs from the form that programs use,
//! so this module converts between the two.

use super::dispatch::{DispParams, ExcepInfo, IDispatch, IDispatch_Vtbl};
use super::glue::free_wire;
use super::value::{self, Variant};
use super::vt;
use super::wire::{Automation, Wires, to_bstr, to_variant};
use crate::marshal::stub::Adapter;
use crate::types::error::guard;
use crate::types::error::{Error, Result, code, leave};
use crate::types::memory::{slice, slice_mut, vtable};
#[cfg(not(miri))]
use crate::types::registry::{Declared, DeclaredInterface};
use crate::types::registry::{Description, InterfaceInfo, VtablePointer};
use crate::types::registry::{Stubs, pad};
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;
use std::ptr::null_mut;
use windows_core::{GUID, HRESULT, Interface};

crate::include_idl! {
    /// The code that the compiler generates from `oaidl.idl`.
    mod made = "oaidl"
}

pub use made::{IDispatch_GetIDsOfNames_stub, IDispatch_GetTypeInfo_stub, IDispatch_GetTypeInfoCount_stub};

/// The index of wireVARIANT among the types of IDispatch.
const VARIANT_KIND: u16 = 3;
/// The index of FLAGGED_WORD_BLOB among the types of IDispatch.
const BSTR_KIND: u16 = 4;

/// The bit that distinguishes a FACILITY_DISPATCH failure from the success code that is sent in its
/// place.
const FAILURE: i32 = i32::MIN;

/// The description of IDispatch, written by hand in the form that the compiler generates.
// SAFETY: the vtable and the stubs are made for this interface.
pub static INFO: InterfaceInfo = unsafe { InterfaceInfo::new(DESCRIPTION) };

const DESCRIPTION: Description = Description {
    name: "IDispatch",
    iid: IDispatch::IID,
    version: (0, 0),
    fingerprint: made::FINGERPRINT,
    plain: false,
    endpoints: &[],
    base: None,
    proxy: VtablePointer((&raw const PROXY).cast()),
    stubs: Stubs::new(&pad::<8>(&[
        IDispatch_GetTypeInfoCount_stub,
        IDispatch_GetTypeInfo_stub,
        IDispatch_GetIDsOfNames_stub,
        invoke_stub,
    ])),
    idl: made::IDL,
    ndr: made::NDR,
    module: &[],
};

/// The declaration of IDispatch. Each generated module has such a declaration for its interfaces.
#[cfg(not(miri))]
static DECLARED: Declared =
    Declared::new("obvia", &[DeclaredInterface::new("IDispatch", IDispatch::IID.to_u128(), made::FINGERPRINT)]);

#[cfg(not(miri))]
const _: () = {
    extern "C" fn declare() {
        crate::types::registry::declare(&DECLARED);
    }
    // SAFETY: the section contains function pointers that are called when the program is loaded.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static DECLARE: extern "C" fn() = declare;
};

// SAFETY: the vtable and the stubs are made for this interface.
unsafe impl crate::types::registry::Remote for IDispatch {
    const INFO: &'static InterfaceInfo = &INFO;
}

static PROXY: IDispatch_Vtbl = PROXY_VTABLE;

/// The vtable of IDispatch's proxies. The vtables of interfaces that extend IDispatch begin with
/// it.
pub const PROXY_VTABLE: IDispatch_Vtbl = IDispatch_Vtbl {
    base__: crate::client::proxy::UNKNOWN,
    GetTypeInfoCount: made::IDispatch_GetTypeInfoCount_proxy,
    GetTypeInfo: made::IDispatch_GetTypeInfo_proxy,
    GetIDsOfNames: names_proxy,
    Invoke: invoke_proxy,
};

/// The wire form of DISPPARAMS.
#[repr(C)]
struct WireParams {
    arguments: *mut *mut u8,
    names: *mut i32,
    count: u32,
    named: u32,
}

/// The wire form of EXCEPINFO.
#[repr(C)]
struct WireException {
    code: u16,
    reserved: u16,
    texts: [*mut u8; 3],
    help_context: u32,
    reserved_pointer: u32,
    fill_in: u32,
    scode: HRESULT,
}

fn invalid(words: &str) -> Error {
    Error::new(code::E_INVALIDARG, words)
}

unsafe extern "system" fn names_proxy(
    this: *mut c_void,
    iid: *const GUID,
    names: *const *const u16,
    count: u32,
    lcid: u32,
    ids: *mut i32,
) -> HRESULT {
    // SAFETY: the arguments are those that this function has received.
    unsafe { made::IDispatch_GetIDsOfNames_proxy(this, iid, names.cast(), count, lcid, ids) }
}

/// The wire form of a call.
struct Outgoing {
    wires: Wires,
    arguments: Vec<*mut u8>,
    /// The indices of the arguments by reference. `references` has their wire forms.
    indices: Vec<u32>,
    references: Vec<*mut u8>,
}

impl Outgoing {
    fn new(arguments: &[Variant]) -> Result<Self> {
        let mut made =
            Self { wires: Wires::lent(), arguments: Vec::new(), indices: Vec::new(), references: Vec::new() };
        for (at, argument) in (0..).zip(arguments) {
            // Arguments by reference are sent in both directions, so they have an array of their
            // own. An empty VARIANT takes their place among the other arguments.
            let by_value = if argument.target().is_some() {
                made.indices.push(at);
                made.references.push(made.wires.reference(argument)?);
                made.wires.variant(&Variant::new(), 0)?
            } else {
                made.wires.variant(argument, 0)?
            };
            made.arguments.push(by_value);
        }
        Ok(made)
    }
}

unsafe extern "system" fn invoke_proxy(
    this: *mut c_void,
    id: i32,
    iid: *const GUID,
    lcid: u32,
    flags: u16,
    arguments: *mut DispParams,
    result: *mut Variant,
    exception: *mut ExcepInfo,
    wrong: *mut u32,
) -> HRESULT {
    guard(|| {
        // SAFETY: by COM's rules the caller's pointers are as IDispatch defines them.
        let Some(params) = (unsafe { arguments.as_ref() }) else { return code::E_POINTER };
        // SAFETY: by COM's rules there are `count` arguments.
        let given = unsafe { slice(params.arguments, params.count as usize) };
        let mut outgoing = match Outgoing::new(given) {
            Ok(outgoing) => outgoing,
            Err(error) => return leave(error),
        };
        let wire = WireParams {
            arguments: outgoing.arguments.as_mut_ptr(),
            names: params.names,
            count: params.count,
            named: params.named,
        };
        let sent = outgoing.references.clone();
        let mut answer = Incoming { result: null_mut(), exception: no_exception(), wrong: 0 };
        // SAFETY: the wire forms were just made; the other arguments are those that this function
        // has received.
        let outcome = unsafe {
            made::IDispatch_Invoke_proxy(
                this,
                id,
                iid,
                lcid,
                flags.into(),
                (&raw const wire).cast(),
                (&raw mut answer.result).cast(),
                (&raw mut answer.exception).cast(),
                &raw mut answer.wrong,
                sent.len() as u32,
                outgoing.indices.as_ptr(),
                outgoing.references.as_mut_ptr().cast(),
            )
        };
        if outcome.0 < 0 {
            return outcome;
        }
        let returned: Vec<_> = outgoing.references.iter().zip(&outgoing.indices).collect();
        // SAFETY: the reply was checked, and this function owns its values.
        let given_back = unsafe { answer.give_back(given, &returned) };
        for (now, before) in outgoing.references.iter().zip(&sent) {
            if now != before {
                // SAFETY: the value came in the reply, and this function owns it.
                unsafe { free_wire(*now, VARIANT_KIND, &made::IDispatch_TYPES) };
            }
        }
        // SAFETY: by COM's rules the caller's pointers are null or writable.
        let told = given_back.and_then(|()| unsafe { answer.tell(result, exception, wrong) });
        match told {
            Ok(()) if outcome.0 >> 16 == code::DISP_E_EXCEPTION.0 >> 16 & 0x1fff => HRESULT(outcome.0 | FAILURE),
            Ok(()) => outcome,
            Err(error) => leave(error),
        }
    })
}

const fn no_exception() -> WireException {
    WireException {
        code: 0,
        reserved: 0,
        texts: [null_mut(); 3],
        help_context: 0,
        reserved_pointer: 0,
        fill_in: 0,
        scode: HRESULT(0),
    }
}

/// The values of a reply, freed on drop.
struct Incoming {
    result: *mut u8,
    exception: WireException,
    wrong: u32,
}

impl Incoming {
    /// Stores the returned values of arguments by reference at the targets of these arguments.
    ///
    /// # Safety
    ///
    /// `arguments` must be those that the caller passed, and `returned` must pair each value of the
    /// reply with the index of its argument.
    unsafe fn give_back(&self, arguments: &[Variant], returned: &[(&*mut u8, &u32)]) -> Result<()> {
        for (wire, at) in returned {
            let Some((vt, to)) = arguments[**at as usize].target() else { continue };
            // SAFETY: the caller promises that the values are those of the reply, which was
            // checked.
            let value = unsafe { to_variant((**wire).cast_const(), 0) }?.change_type(vt)?;
            // SAFETY: the creator of the reference promises a valid value at its target.
            unsafe { value::clear(vt, to) };
            // SAFETY: `to` has room for a value of this type, and after `clear` it contains a zero,
            // which owns nothing.
            unsafe { value::write(vt, to, value) }?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// Each pointer must be null or writable.
    unsafe fn tell(&self, result: *mut Variant, exception: *mut ExcepInfo, wrong: *mut u32) -> Result<()> {
        // SAFETY: the reply was checked, so the result is null or leads to the wire form of a
        // VARIANT.
        let value = unsafe { to_variant(self.result, 0) }?;
        // SAFETY: the reply was checked, so each text is null or leads to the wire form of a
        // string.
        let [source, description, help_file] = self.exception.texts.map(|text| unsafe { to_bstr(text) });
        let mut told = ExcepInfo {
            code: self.exception.code,
            source: source?,
            description: description?,
            help_file: help_file?,
            help_context: self.exception.help_context,
            scode: self.exception.scode,
            ..ExcepInfo::default()
        };
        if !result.is_null() {
            // SAFETY: `result` is not null, so the caller promises that it is writable.
            unsafe { result.write(value) };
        }
        if !exception.is_null() {
            // SAFETY: `exception` is not null, so the caller promises that it is writable.
            unsafe { exception.write(std::mem::take(&mut told)) };
        }
        if !wrong.is_null() {
            // SAFETY: `wrong` is not null, so the caller promises that it is writable.
            unsafe { wrong.write(self.wrong) };
        }
        Ok(())
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // SAFETY: the value came in the reply, and this structure owns it.
        unsafe { free_wire(self.result, VARIANT_KIND, &made::IDispatch_TYPES) };
        for text in self.exception.texts {
            // SAFETY: the text came in the reply, and this structure owns it.
            unsafe { free_wire(text, BSTR_KIND, &made::IDispatch_TYPES) };
        }
    }
}

/// The vtable of the adapter that the stub calls in place of the object.
static ADAPTER: made::IDispatch_Vtbl = made::IDispatch_Vtbl {
    base__: crate::client::proxy::UNKNOWN,
    GetTypeInfoCount: made::IDispatch_GetTypeInfoCount_proxy,
    GetTypeInfo: made::IDispatch_GetTypeInfo_proxy,
    GetIDsOfNames: made::IDispatch_GetIDsOfNames_proxy,
    Invoke: adapted,
};

/// Performs a received call of `Invoke` on an object.
///
/// # Safety
///
/// `object` must be an interface pointer whose vtable begins with that of IDispatch.
pub unsafe extern "C-unwind" fn invoke_stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    let mut adapter = Adapter::new(&ADAPTER, object);
    // SAFETY: the stub calls only `Invoke` of the adapter.
    unsafe { made::IDispatch_Invoke_stub(adapter.as_raw(), call) }
}

/// The arguments of a received call, in the form for the object.
struct Received {
    arguments: Vec<Variant>,
    /// The targets of arguments by reference.
    held: Vec<Variant>,
    /// The indices of the targets that are DECIMALs. The first two bytes of a DECIMAL hold the
    /// target's type, and the object can leave any bytes there.
    decimals: Vec<usize>,
}

impl Drop for Received {
    fn drop(&mut self) {
        for at in &self.decimals {
            self.held[*at].set_type(vt::DECIMAL);
        }
    }
}

impl Received {
    /// # Safety
    ///
    /// The arguments must come from a checked request.
    unsafe fn new(params: &WireParams, indices: &[u32], references: &[*mut u8]) -> Result<Self> {
        let count = params.count as usize;
        if params.arguments.is_null() && count > 0 || params.names.is_null() && params.named > 0 {
            return Err(invalid("the call's arguments are missing"));
        }
        // SAFETY: the caller promises a checked request, so there are `count` arguments.
        let given = unsafe { slice(params.arguments.cast_const(), count) };
        // SAFETY: the caller promises a checked request, so each pointer is null or leads to the
        // wire form of a VARIANT.
        let arguments = given.iter().map(|wire| unsafe { to_variant(*wire, 0) }).collect::<Result<Vec<_>>>()?;
        // SAFETY: the caller promises a checked request, so each pointer is null or leads to the
        // wire form of a VARIANT.
        let held = references.iter().map(|wire| unsafe { to_variant(*wire, 0) }).collect::<Result<Vec<_>>>()?;
        let mut made = Self { arguments, held, decimals: Vec::new() };
        for (number, ((wire, held), at)) in references.iter().zip(&mut made.held).zip(indices).enumerate() {
            // SAFETY: the caller promises a checked request, so the pointer is null or leads to the
            // wire form of a VARIANT.
            let vt = unsafe { wire.cast::<super::wire::WireVariant>().as_ref() }.map_or(0, |found| found.vt);
            let argument = made.arguments.get_mut(*at as usize).filter(|_| vt & vt::BYREF != 0);
            let argument = argument.ok_or_else(|| invalid("the call has no such argument by reference"))?;
            let vt = vt & !vt::BYREF;
            if vt == vt::DECIMAL {
                made.decimals.push(number);
            }
            let place = if vt == vt::VARIANT { (&raw mut *held).cast() } else { held.place(vt).cast() };
            // SAFETY: `held` lives as long as the arguments, and its elements do not move.
            *argument = unsafe { Variant::by_reference(vt, place) };
        }
        Ok(made)
    }
}

/// Converts a received `Invoke` and calls the object.
unsafe extern "system" fn adapted(
    this: *mut c_void,
    id: i32,
    iid: *const GUID,
    lcid: u32,
    flags: u32,
    params: *const c_void,
    result: *mut c_void,
    exception: *mut c_void,
    wrong: *mut u32,
    count: u32,
    indices: *const u32,
    references: *mut c_void,
) -> HRESULT {
    // SAFETY: the stub calls its own adapter, with checked arguments.
    let object = unsafe { Adapter::<made::IDispatch_Vtbl>::object(this) };
    // SAFETY: the arguments were checked, so `params` leads to the wire form of DISPPARAMS.
    let params = unsafe { &*params.cast::<WireParams>() };
    // SAFETY: the arguments were checked, so there are `count` indices.
    let indices = unsafe { slice(indices, count as usize) };
    // SAFETY: the arguments were checked, so there are `count` references, which only this function
    // uses.
    let references = unsafe { slice_mut(references.cast::<*mut u8>(), count as usize) };
    // SAFETY: the parameters come from a checked request.
    let mut received = match unsafe { Received::new(params, indices, references) } {
        Ok(received) => received,
        Err(error) => return leave(error),
    };
    let mut given = DispParams {
        arguments: received.arguments.as_mut_ptr(),
        names: params.names,
        count: params.count,
        named: params.named,
    };
    let (mut value, mut told) = (Variant::new(), ExcepInfo::default());
    // SAFETY: the object has the interface IDispatch.
    let invoke = unsafe { vtable::<IDispatch_Vtbl>(object) }.Invoke;
    // SAFETY: the vtable is that of `object`, and the pointers lead to local values, except
    // `wrong`, for which the stub provides room.
    let outcome =
        unsafe { invoke(object, id, iid, lcid, flags as u16, &raw mut given, &raw mut value, &raw mut told, wrong) };
    // A failed call has no results, but the exception of a FACILITY_DISPATCH error travels as a
    // result. Such an error is therefore replaced by a success code with the same lower bits.
    let is_dispatch = outcome.0 >> 16 == code::DISP_E_EXCEPTION.0 >> 16;
    if outcome.0 < 0 && !is_dispatch {
        return outcome;
    }
    let results = Returned { value: &value, told: &told, arguments: &received.arguments, indices };
    // SAFETY: the stub passed writable addresses for the results, and passed `references` for the
    // arguments, which the results may replace.
    if let Err(error) = unsafe { results.put(result.cast(), exception.cast(), references) } {
        return leave(error);
    }
    if is_dispatch { HRESULT(outcome.0 & !FAILURE) } else { outcome }
}

/// The results of a method.
struct Returned<'a> {
    value: &'a Variant,
    told: &'a ExcepInfo,
    arguments: &'a [Variant],
    /// The indices of arguments by reference.
    indices: &'a [u32],
}

impl Returned<'_> {
    /// Stores the wire forms of all results at the addresses that the stub passed. On failure,
    /// stores none.
    ///
    /// # Safety
    ///
    /// The addresses must be writable, and the references must be those received for the arguments.
    unsafe fn put(
        &self,
        result: *mut *mut u8,
        exception: *mut WireException,
        references: &mut [*mut u8],
    ) -> Result<()> {
        let mut wires = Wires::owned();
        let value = self.value.to_wire(&mut wires)?;
        let told = WireException {
            code: self.told.code,
            texts: [
                wires.bstr(&self.told.source)?,
                wires.bstr(&self.told.description)?,
                wires.bstr(&self.told.help_file)?,
            ],
            help_context: self.told.help_context,
            scode: self.told.scode,
            ..no_exception()
        };
        let now = self.indices.iter().map(|at| wires.reference(&self.arguments[*at as usize]));
        let now = now.collect::<Result<Vec<_>>>()?;
        wires.keep();
        // SAFETY: the caller promises that `result` is writable.
        unsafe { result.write(value) };
        // SAFETY: the caller promises that `exception` is writable.
        unsafe { exception.write(told) };
        for (reference, now) in references.iter_mut().zip(now) {
            // SAFETY: the caller promises that the references are the received ones, which the
            // results replace.
            unsafe { free_wire(std::mem::replace(reference, now), VARIANT_KIND, &made::IDispatch_TYPES) };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
