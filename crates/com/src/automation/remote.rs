//! IDispatch across processes: what programs see of `Invoke` is not what travels, so it is converted here.

use super::dispatch::{DispParams, ExcepInfo, IDispatch, IDispatch_Vtbl};
use super::glue::free_wire;
use super::variant::Variant;
use super::vt;
use super::wire::{Automation, Wires, to_bstr, to_variant};
use crate::error::{Error, Result, code, leave};
#[cfg(not(miri))]
use crate::registry::{Declared, Meaning};
use crate::registry::{Description, InterfaceInfo, VtablePointer};
use crate::rt::{Answer, ServerCall, guard, pad, slice, slice_mut, vtable};
use crate::stub::{Adapter, Stubs};
use std::ffi::c_void;
use std::ptr::null_mut;
use windows_core::{GUID, HRESULT, Interface};

crate::include_idl! {
    /// What the compiler writes of `oaidl.idl`.
    mod made = "oaidl"
}

pub use made::{IDispatch_GetIDsOfNames_stub, IDispatch_GetTypeInfo_stub, IDispatch_GetTypeInfoCount_stub};

/// The numbers of wireVARIANT and FLAGGED_WORD_BLOB among the types of IDispatch.
const VARIANT_KIND: u16 = 3;
const BSTR_KIND: u16 = 4;

/// What distinguishes a failure of FACILITY_DISPATCH from the success that travels for it.
const FAILURE: i32 = i32::MIN;

/// What the compiler would know about the interface.
// SAFETY: vtable and stubs are this interface's.
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

/// As each module that the compiler writes says it of its own.
#[cfg(not(miri))]
static DECLARED: Declared =
    Declared::new("obvia", &[Meaning::new("IDispatch", IDispatch::IID.to_u128(), made::FINGERPRINT)]);

#[cfg(not(miri))]
const _: () = {
    extern "C" fn declare() {
        crate::registry::declare(&DECLARED);
    }
    // SAFETY: what stands there are functions that are called when the program is loaded.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static DECLARE: extern "C" fn() = declare;
};

// SAFETY: vtable and stubs were made for this interface.
unsafe impl crate::registry::Remote for IDispatch {
    const INFO: &'static InterfaceInfo = &INFO;
}

static PROXY: IDispatch_Vtbl = PROXY_VTABLE;

/// The vtable of proxies, for interfaces that extend this one as well.
pub const PROXY_VTABLE: IDispatch_Vtbl = IDispatch_Vtbl {
    base__: crate::proxy::UNKNOWN,
    GetTypeInfoCount: made::IDispatch_GetTypeInfoCount_proxy,
    GetTypeInfo: made::IDispatch_GetTypeInfo_proxy,
    GetIDsOfNames: names_proxy,
    Invoke: invoke_proxy,
};

/// DISPPARAMS as it travels.
#[repr(C)]
struct WireParams {
    arguments: *mut *mut u8,
    names: *mut i32,
    count: u32,
    named: u32,
}

/// EXCEPINFO as it travels.
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
    // SAFETY: what this function was called with.
    unsafe { made::IDispatch_GetIDsOfNames_proxy(this, iid, names.cast(), count, lcid, ids) }
}

/// A call as it travels, made of what a program has.
struct Outgoing {
    wires: Wires,
    arguments: Vec<*mut u8>,
    /// Which arguments are by reference, and what travels for them.
    indices: Vec<u32>,
    references: Vec<*mut u8>,
}

impl Outgoing {
    fn new(arguments: &[Variant]) -> Result<Self> {
        let mut made =
            Self { wires: Wires::lent(), arguments: Vec::new(), indices: Vec::new(), references: Vec::new() };
        for (at, argument) in (0..).zip(arguments) {
            // What is by reference goes both ways, beside the arguments.
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
        // SAFETY: by COM's rules the caller's pointers are what IDispatch says.
        let Some(params) = (unsafe { arguments.as_ref() }) else { return code::E_POINTER };
        // SAFETY: as above.
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
        // SAFETY: what travels was just made; the rest is what this function was called with.
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
        // SAFETY: the reply was checked, and what came is this function's.
        let given_back = unsafe { answer.give_back(given, &returned) };
        for (now, before) in outgoing.references.iter().zip(&sent) {
            if now != before {
                // SAFETY: what came in the reply.
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

/// What a reply brought; freed with this.
struct Incoming {
    result: *mut u8,
    exception: WireException,
    wrong: u32,
}

impl Incoming {
    /// Puts what came for arguments by reference where these lead.
    ///
    /// # Safety
    ///
    /// The arguments must be a caller's, and the others be what came, with the numbers of the arguments they are for.
    unsafe fn give_back(&self, arguments: &[Variant], returned: &[(&*mut u8, &u32)]) -> Result<()> {
        for (wire, at) in returned {
            let Some((vt, to)) = arguments[**at as usize].target() else { continue };
            // SAFETY: the caller's promise.
            let value = unsafe { to_variant((**wire).cast_const(), 0) }?.change_type(vt)?;
            // SAFETY: by the promise of whoever made the reference.
            unsafe { vt::clear(vt, to) };
            // SAFETY: as above.
            unsafe { vt::write(vt, to, value) }?;
        }
        Ok(())
    }

    /// # Safety
    ///
    /// Each pointer must be null or writable.
    unsafe fn tell(&self, result: *mut Variant, exception: *mut ExcepInfo, wrong: *mut u32) -> Result<()> {
        // SAFETY: the reply was checked.
        let value = unsafe { to_variant(self.result, 0) }?;
        // SAFETY: as above.
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
            // SAFETY: the caller's promise.
            unsafe { result.write(value) };
        }
        if !exception.is_null() {
            // SAFETY: the caller's promise.
            unsafe { exception.write(std::mem::take(&mut told)) };
        }
        if !wrong.is_null() {
            // SAFETY: the caller's promise.
            unsafe { wrong.write(self.wrong) };
        }
        Ok(())
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // SAFETY: what came in the reply, which nobody else has.
        unsafe { free_wire(self.result, VARIANT_KIND, &made::IDispatch_TYPES) };
        for text in self.exception.texts {
            // SAFETY: as above.
            unsafe { free_wire(text, BSTR_KIND, &made::IDispatch_TYPES) };
        }
    }
}

/// What the stub calls in an object's place.
static ADAPTER: made::IDispatch_Vtbl = made::IDispatch_Vtbl {
    base__: crate::proxy::UNKNOWN,
    GetTypeInfoCount: made::IDispatch_GetTypeInfoCount_proxy,
    GetTypeInfo: made::IDispatch_GetTypeInfo_proxy,
    GetIDsOfNames: made::IDispatch_GetIDsOfNames_proxy,
    Invoke: adapted,
};

/// The stub of `Invoke`.
///
/// # Safety
///
/// `object` must be an interface pointer whose vtable begins as IDispatch's.
pub unsafe extern "C-unwind" fn invoke_stub(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer {
    let mut adapter = Adapter::new(&ADAPTER, object);
    // SAFETY: of an adapter only `Invoke` is called.
    unsafe { made::IDispatch_Invoke_stub(adapter.as_raw(), call) }
}

/// The arguments of a call that came, as an object gets them.
struct Received {
    arguments: Vec<Variant>,
    /// What arguments by reference lead to.
    held: Vec<Variant>,
}

impl Received {
    /// # Safety
    ///
    /// All of it must be what came, checked.
    unsafe fn new(params: &WireParams, indices: &[u32], references: &[*mut u8]) -> Result<Self> {
        let count = params.count as usize;
        if params.arguments.is_null() && count > 0 || params.names.is_null() && params.named > 0 {
            return Err(invalid("there are no arguments, though there are to be some"));
        }
        // SAFETY: the caller's promise.
        let given = unsafe { slice(params.arguments.cast_const(), count) };
        // SAFETY: as above.
        let arguments = given.iter().map(|wire| unsafe { to_variant(*wire, 0) }).collect::<Result<Vec<_>>>()?;
        // SAFETY: as above.
        let held = references.iter().map(|wire| unsafe { to_variant(*wire, 0) }).collect::<Result<Vec<_>>>()?;
        let mut made = Self { arguments, held };
        for ((wire, held), at) in references.iter().zip(&mut made.held).zip(indices) {
            // SAFETY: as above.
            let vt = unsafe { wire.cast::<super::wire::WireVariant>().as_ref() }.map_or(0, |found| found.vt);
            let argument = made.arguments.get_mut(*at as usize).filter(|_| vt & vt::BYREF != 0);
            let argument = argument.ok_or_else(|| invalid("there is no such argument by reference"))?;
            let vt = vt & !vt::BYREF;
            let place = if vt == vt::VARIANT { (&raw mut *held).cast() } else { held.place(vt).cast() };
            // SAFETY: what is held lives as long as the arguments, and is not moved.
            *argument = unsafe { Variant::by_reference(vt, place) };
        }
        Ok(made)
    }
}

/// `Invoke` with what travels.
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
    // SAFETY: the stub calls its own adapter, with what it has checked.
    let object = unsafe { Adapter::<made::IDispatch_Vtbl>::object(this) };
    // SAFETY: as above.
    let params = unsafe { &*params.cast::<WireParams>() };
    // SAFETY: as above.
    let indices = unsafe { slice(indices, count as usize) };
    // SAFETY: as above.
    let references = unsafe { slice_mut(references.cast::<*mut u8>(), count as usize) };
    // SAFETY: as above.
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
    // SAFETY: the object has the interface.
    let invoke = unsafe { vtable::<IDispatch_Vtbl>(object) }.Invoke;
    // SAFETY: as above; pointers are to what lives here.
    let outcome =
        unsafe { invoke(object, id, iid, lcid, flags as u16, &raw mut given, &raw mut value, &raw mut told, wrong) };
    // A failure has no results, but its words are results here: they travel as a success of the same number.
    let is_dispatch = outcome.0 >> 16 == code::DISP_E_EXCEPTION.0 >> 16;
    if outcome.0 < 0 && !is_dispatch {
        return outcome;
    }
    let results = Returned { value: &value, told: &told, arguments: &received.arguments, indices };
    // SAFETY: the stub's places for results; what came is the method's to replace.
    if let Err(error) = unsafe { results.put(result.cast(), exception.cast(), references) } {
        return leave(error);
    }
    if is_dispatch { HRESULT(outcome.0 & !FAILURE) } else { outcome }
}

/// What a method has returned.
struct Returned<'a> {
    value: &'a Variant,
    told: &'a ExcepInfo,
    arguments: &'a [Variant],
    /// Which arguments are by reference.
    indices: &'a [u32],
}

impl Returned<'_> {
    /// Puts what travels for it where the stub wants it, all or nothing.
    ///
    /// # Safety
    ///
    /// The places must be writable, and the references be what came for the arguments.
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
        // SAFETY: the caller's promise.
        unsafe { result.write(value) };
        // SAFETY: the caller's promise.
        unsafe { exception.write(told) };
        for (reference, now) in references.iter_mut().zip(now) {
            // SAFETY: the caller's promise.
            unsafe { free_wire(std::mem::replace(reference, now), VARIANT_KIND, &made::IDispatch_TYPES) };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
