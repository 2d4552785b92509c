//! IDispatch of objects whose interface the compiler has described. The functions here resolve
//! names and convert arguments by the table of the interface, and call the interface's own methods.

use super::dispatch::{DispParams, ExcepInfo, IDispatch_Vtbl};
use super::value::{self, Variant};
use super::vt;
use super::{DISPATCH_PROPERTYPUT, DISPATCH_PROPERTYPUTREF, DISPID_PROPERTYPUT};
use crate::marshal::graph::Invoke;
use crate::types::error::guard;
use crate::types::error::{Error, Result, code, leave, recall};
use crate::types::memory::{slice, wide};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use windows_core::{GUID, HRESULT, IUnknown, IUnknown_Vtbl, Interface};

/// An interface whose methods can also be called by name.
pub trait Dual {
    /// The table that the compiler generates.
    const TABLE: &'static Table;
}

/// The table of an interface for calls by name.
pub struct Table {
    /// The interface's name.
    pub name: &'static str,
    /// The interface's methods, inherited methods first.
    pub members: &'static [Member],
}

/// A method, or an accessor of a property.
pub struct Member {
    /// The name of the method or property.
    pub name: &'static str,
    /// The DISPID of the method or property.
    pub id: i32,
    /// The kind of the call: `DISPATCH_METHOD` or one of the flags for properties.
    pub kind: u16,
    /// Whether the name is hidden from GetIDsOfNames.
    pub restricted: bool,
    /// The method's parameters.
    pub params: &'static [Param],
    /// The function that calls the method with the addresses of its arguments. For a parameter that
    /// is passed by a pointer, such as a result, the address is this pointer. For a parameter that
    /// is passed by value, interface pointers included, the address is that of the value.
    pub invoke: Invoke,
}

/// A parameter.
pub struct Param {
    /// The parameter's name.
    pub name: &'static str,
    /// The parameter's type; for a pointer, the type of the pointer's target.
    pub vt: u16,
    /// Whether the parameter is an input.
    pub is_in: bool,
    /// Whether the parameter is an output.
    pub is_out: bool,
    /// Whether the parameter is the result.
    pub is_result: bool,
    /// The value of an omitted argument.
    pub absent: Absent,
    /// The interface that an object must have as the argument. `None` if the parameter accepts
    /// every object, or no objects.
    pub iid: Option<GUID>,
    /// The permitted range of a number; `None` if no range is declared.
    pub range: Option<(i64, i64)>,
    /// The only permitted numbers; empty if every number is permitted. `range` applies in addition.
    pub values: &'static [i32],
}

/// The value of an omitted argument.
#[derive(Clone, Copy)]
pub enum Absent {
    /// No value: the argument is required.
    Refused,
    /// The zero of the parameter's type; for a VARIANT, the value of a missing argument.
    Zero,
    /// A number.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(&'static str),
}

/// The error of a call by name, with the index of the argument that caused the error, if any.
struct Wrong {
    error: Error,
    argument: Option<usize>,
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Self {
        Self { error, argument: None }
    }
}

/// The memory of a parameter's value while a method runs. The cell owns the value.
struct Cell {
    words: [u64; 3],
    vt: u16,
}

const _: () = assert!(size_of::<Variant>() <= size_of::<[u64; 3]>());

impl Cell {
    const fn new(vt: u16) -> Self {
        Self { words: [0; 3], vt }
    }

    const fn address(&mut self) -> *mut u8 {
        (&raw mut self.words).cast()
    }

    /// Stores a value. The cell must contain a zero.
    fn set(&mut self, value: Variant) -> Result<()> {
        let vt = self.vt;
        // SAFETY: the words have room for every value, and the zero in them owns nothing.
        unsafe { value::write(vt, self.address(), value) }
    }

    /// Takes the value and leaves a zero.
    fn take(&mut self) -> Result<Variant> {
        // SAFETY: the words contain a value of this type.
        let value = unsafe { value::read(self.vt, self.address()) };
        let vt = self.vt;
        // SAFETY: the words contain a value of this type, which the cell owns.
        unsafe { value::clear(vt, self.address()) };
        value
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        let vt = self.vt;
        // SAFETY: the words contain a value of this type, which the cell owns.
        unsafe { value::clear(vt, self.address()) };
    }
}

impl Param {
    /// Converts an argument to the parameter's type.
    fn convert(&self, argument: &Variant) -> Result<Variant> {
        let value = argument.change_type(self.vt)?;
        let number = match value.vt() {
            vt::I1 => Some(i64::from(value.bits() as i8)),
            vt::I2 => Some(i64::from(value.bits() as i16)),
            vt::I4 | vt::INT => Some(i64::from(value.bits() as i32)),
            vt::UI1 | vt::UI2 | vt::UI4 | vt::UINT | vt::I8 | vt::UI8 => Some(value.bits() as i64),
            _ => None,
        };
        let Some(number) = number else { return self.object(value) };
        let is_in_range = self.range.is_none_or(|(least, most)| (least..=most).contains(&number));
        let is_listed = self.values.is_empty() || self.values.iter().any(|value| i64::from(*value) == number);
        if is_in_range && is_listed {
            return Ok(value);
        }
        Err(Error::new(code::E_INVALIDARG, format!("the argument for `{}` has the invalid value {number}", self.name)))
    }

    /// Queries an object for the parameter's interface. Returns any other value unchanged.
    fn object(&self, value: Variant) -> Result<Variant> {
        let (Some(iid), Some(object)) = (self.iid, value.object()) else { return Ok(value) };
        let mut found = std::ptr::null_mut();
        // SAFETY: a live interface pointer is queried for another interface.
        unsafe { object.query(&raw const iid, &raw mut found) }.ok()?;
        // SAFETY: the pointer has a reference of its own, and every interface is an IUnknown.
        let found = unsafe { IUnknown::from_raw(found) };
        Ok(Variant::of_pointer(self.vt, found.into_raw()))
    }

    /// Returns the value of an omitted argument.
    fn absent(&self) -> Result<Variant> {
        let value: Variant = match self.absent {
            Absent::Refused => {
                let words = format!("the argument for `{}` is missing", self.name);
                return Err(Error::new(code::DISP_E_PARAMNOTOPTIONAL, words));
            }
            Absent::Zero if self.vt == vt::VARIANT => return Ok(Variant::missing()),
            Absent::Zero => return Ok(Variant::zero(self.vt)),
            Absent::Int(value) => value.into(),
            Absent::Float(value) => value.into(),
            Absent::Text(text) => text.into(),
        };
        value.change_type(self.vt)
    }
}

/// The arguments of a call, assigned to the method's parameters.
struct Matched<'a> {
    /// For each parameter, the index and the value of its argument; `None` where the argument is
    /// omitted.
    given: Vec<Option<(usize, &'a Variant)>>,
}

impl<'a> Matched<'a> {
    fn new(member: &Member, arguments: &'a [Variant], names: &[i32]) -> std::result::Result<Self, Wrong> {
        let inputs: Vec<usize> = (0..member.params.len()).filter(|at| !member.params[*at].is_result).collect();
        let mut given = vec![None; member.params.len()];
        let is_put = member.kind & (DISPATCH_PROPERTYPUT | DISPATCH_PROPERTYPUTREF) != 0;
        let too_many =
            || Wrong::from(Error::new(code::DISP_E_BADPARAMCOUNT, "there are more arguments than parameters"));
        if names.len() > arguments.len() {
            return Err(too_many());
        }
        for (at, id) in names.iter().enumerate() {
            let param = if is_put && *id == DISPID_PROPERTYPUT {
                inputs.last()
            } else {
                usize::try_from(*id)
                    .ok()
                    .filter(|param| inputs.contains(param))
                    .and_then(|param| inputs.iter().find(|at| **at == param))
            };
            let place = param.map(|param| &mut given[*param]).filter(|place| place.is_none());
            let place = place.ok_or_else(|| Wrong {
                error: Error::new(
                    code::DISP_E_PARAMNOTFOUND,
                    "an argument names an unknown parameter, or a parameter that already has an argument",
                ),
                argument: Some(at),
            })?;
            *place = Some((at, &arguments[at]));
        }
        // Unnamed arguments are in reverse order.
        for (at, argument) in arguments.iter().enumerate().skip(names.len()).rev() {
            let position = arguments.len() - 1 - at;
            let place = inputs.get(position).map(|param| &mut given[*param]);
            *place.filter(|place| place.is_none()).ok_or_else(too_many)? = Some((at, argument));
        }
        Ok(Self { given })
    }
}

/// Calls a member and returns its result.
///
/// # Safety
///
/// `object` must be a live interface pointer of the interface to which the member belongs.
unsafe fn call(
    member: &Member,
    object: *mut c_void,
    arguments: &[Variant],
    names: &[i32],
) -> std::result::Result<Variant, Wrong> {
    let matched = Matched::new(member, arguments, names)?;
    let mut cells: Vec<Cell> = member.params.iter().map(|param| Cell::new(param.vt)).collect();
    for ((param, cell), given) in member.params.iter().zip(&mut cells).zip(&matched.given) {
        if !param.is_in {
            continue;
        }
        let at = given.map(|(at, _)| at);
        let value = match given {
            Some((_, argument)) if !argument.is_missing() || param.vt == vt::VARIANT => param.convert(argument),
            _ => param.absent(),
        };
        value.and_then(|value| cell.set(value)).map_err(|error| Wrong { error, argument: at })?;
    }
    let mut addresses: Vec<*mut c_void> = cells.iter_mut().map(|cell| cell.address().cast()).collect();
    // SAFETY: the caller promises a live interface pointer of the member's interface. Each address
    // leads to a value of the parameter's type, or to room for one.
    let outcome = unsafe { (member.invoke)(object, addresses.as_mut_ptr()) };
    if outcome.0 < 0 {
        let failed = recall(outcome);
        // A failed method has no results, so only the error is returned.
        let words = failed.detail().map_or_else(|| failed.to_string(), str::to_owned);
        return Err(Wrong { error: Error::new(outcome, words), argument: None });
    }
    let mut result = Variant::new();
    for ((param, cell), given) in member.params.iter().zip(&mut cells).zip(&matched.given) {
        if param.is_result {
            result = cell.take()?;
        } else if let (true, Some((_, argument))) = (param.is_out, given)
            && let Some((vt, to)) = argument.target()
        {
            let value = cell.take()?.change_type(vt)?;
            // SAFETY: the creator of the reference promises a valid value at its target.
            unsafe { value::clear(vt, to) };
            // SAFETY: `to` has room for a value of this type, and after `clear` it contains a zero,
            // which owns nothing.
            unsafe { value::write(vt, to, value) }?;
        }
    }
    Ok(result)
}

unsafe extern "system" fn type_info_count(_: *mut c_void, count: *mut u32) -> HRESULT {
    // SAFETY: by COM's rules the caller's pointer is null or writable.
    match unsafe { count.as_mut() } {
        Some(count) => {
            *count = 0;
            code::S_OK
        }
        None => code::E_POINTER,
    }
}

unsafe extern "system" fn type_info(_: *mut c_void, _: u32, _: u32, info: *mut *mut c_void) -> HRESULT {
    // SAFETY: by COM's rules the caller's pointer is null or writable.
    match unsafe { info.as_mut() } {
        Some(info) => {
            *info = std::ptr::null_mut();
            code::E_NOTIMPL
        }
        None => code::E_POINTER,
    }
}

unsafe extern "system" fn names<D: Dual>(
    _: *mut c_void,
    iid: *const GUID,
    names: *const *const u16,
    count: u32,
    _: u32,
    ids: *mut i32,
) -> HRESULT {
    guard(|| {
        if ids.is_null() || names.is_null() || count == 0 {
            return code::E_INVALIDARG;
        }
        // SAFETY: by COM's rules the caller's pointer is null or readable.
        if unsafe { iid.as_ref() }.is_some_and(|iid| *iid != GUID::zeroed()) {
            return code::DISP_E_UNKNOWNINTERFACE;
        }
        // SAFETY: by COM's rules there are `count` names.
        let names = unsafe { slice(names, count as usize) };
        // SAFETY: by COM's rules each name is null or ends in a zero.
        let text =
            |name: *const u16| unsafe { wide(name) }.map(widestring::U16CStr::to_string_lossy).unwrap_or_default();
        let first = text(names[0]);
        let member = D::TABLE.members.iter().find(|member| !member.restricted && same(member.name, &first));
        let mut outcome = code::S_OK;
        for (at, name) in names.iter().enumerate() {
            let id = match (at, member) {
                (0, member) => member.map(|member| member.id),
                (_, Some(member)) => {
                    let name = text(*name);
                    member
                        .params
                        .iter()
                        .position(|param| !param.is_result && same(param.name, &name))
                        .map(|at| at as i32)
                }
                _ => None,
            };
            if id.is_none() {
                outcome = code::DISP_E_UNKNOWNNAME;
            }
            // SAFETY: by COM's rules, `ids` has room for one DISPID for each name.
            unsafe { ids.wrapping_add(at).write(id.unwrap_or(-1)) };
        }
        outcome
    })
}

/// Compares names without case.
fn same(left: &str, right: &str) -> bool {
    left.chars().flat_map(char::to_lowercase).eq(right.chars().flat_map(char::to_lowercase))
}

unsafe extern "system" fn invoke<D: Dual>(
    this: *mut c_void,
    id: i32,
    iid: *const GUID,
    _: u32,
    flags: u16,
    arguments: *mut DispParams,
    result: *mut Variant,
    exception: *mut ExcepInfo,
    wrong: *mut u32,
) -> HRESULT {
    guard(|| {
        // SAFETY: by COM's rules the caller's pointers are as IDispatch defines them.
        if unsafe { iid.as_ref() }.is_some_and(|iid| *iid != GUID::zeroed()) {
            return code::DISP_E_UNKNOWNINTERFACE;
        }
        // SAFETY: by COM's rules the caller's pointer is null or leads to a DISPPARAMS.
        let Some(params) = (unsafe { arguments.as_ref() }) else { return code::E_POINTER };
        let named: Vec<&Member> = D::TABLE.members.iter().filter(|member| member.id == id).collect();
        let Some(member) = named.iter().find(|member| member.kind & flags != 0) else {
            let words = format!("{} has no member {id} that can be used in this way", D::TABLE.name);
            return leave(Error::new(code::DISP_E_MEMBERNOTFOUND, words));
        };
        // SAFETY: by COM's rules there are `count` arguments.
        let given = unsafe { slice(params.arguments.cast_const(), params.count as usize) };
        // SAFETY: by COM's rules there are `named` names.
        let names = unsafe { slice(params.names.cast_const(), params.named as usize) };
        // SAFETY: this function is in the vtable of the interface that `D` describes, so by COM's
        // rules `this` is a live pointer of that interface.
        match unsafe { call(member, this, given, names) } {
            Ok(value) => {
                if !result.is_null() {
                    // SAFETY: `result` is not null, and by COM's rules it then leads to room for a
                    // VARIANT.
                    unsafe { result.write(value) };
                }
                code::S_OK
            }
            // SAFETY: by COM's rules both pointers are null or writable.
            Err(found) => unsafe { tell(D::TABLE, member, found, exception, wrong) },
        }
    })
}

/// Reports the error of a call to the caller.
///
/// # Safety
///
/// The pointers must be null or writable.
unsafe fn tell(table: &Table, member: &Member, found: Wrong, exception: *mut ExcepInfo, wrong: *mut u32) -> HRESULT {
    let failure = found.error.code();
    if let (Some(at), false) = (found.argument, wrong.is_null()) {
        // SAFETY: `wrong` is not null, so the caller promises that it is writable.
        unsafe { wrong.write(at as u32) };
    }
    let words = found.error.detail().map_or_else(|| found.error.to_string(), str::to_owned);
    if !exception.is_null() {
        let told = ExcepInfo {
            source: format!("{}.{}", table.name, member.name).as_str().into(),
            description: words.as_str().into(),
            scode: failure,
            ..ExcepInfo::default()
        };
        // SAFETY: `exception` is not null, so the caller promises that it is writable.
        unsafe { exception.write(told) };
    }
    // Errors of FACILITY_DISPATCH are errors of the call itself, and are returned unchanged. All
    // other errors are errors of the method, for which the call returns DISP_E_EXCEPTION.
    let is_call = failure.0 >> 16 == code::DISP_E_EXCEPTION.0 >> 16;
    leave(Error::new(if is_call { failure } else { code::DISP_E_EXCEPTION }, words))
}

impl IDispatch_Vtbl {
    /// Returns the vtable for an implementation of an interface that extends IDispatch.
    pub const fn dual<Identity: windows_core::IUnknownImpl + Send + Sync + 'static, const OFFSET: isize, D: Dual>()
    -> Self {
        Self {
            base__: IUnknown_Vtbl::new::<Identity, OFFSET>(),
            GetTypeInfoCount: type_info_count,
            GetTypeInfo: type_info,
            GetIDsOfNames: names::<D>,
            Invoke: invoke::<D>,
        }
    }
}

/// Reads the value at an address without taking ownership, for a method's input.
///
/// # Safety
///
/// There must be a value at `at`, and its owner must keep the value while the result is used.
pub unsafe fn look<T>(at: *const c_void) -> ManuallyDrop<T> {
    // SAFETY: the caller promises a value at `at`. The copy is never dropped, so the value keeps
    // one owner.
    ManuallyDrop::new(unsafe { at.cast::<T>().read() })
}
