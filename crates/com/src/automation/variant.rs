//! VARIANT: a value that carries its type.

use super::bstr::Bstr;
use super::dispatch::IDispatch;
use super::number::{Currency, Decimal};
use super::safearray::SafeArray;
use super::vt;
use crate::agile::sealed;
use crate::error::{Error, Result, code};
use std::ffi::c_void;
use std::fmt;
use std::ptr::{null_mut, without_provenance_mut};
use windows_core::{HRESULT, IUnknown, Interface};

/// A value of one of Automation's types, in C's layout.
///
/// [`Self::value`] reads the value, [`Self::change_type`] converts it. A variant by reference leads
/// to a value that it does not own; a copy of it is a copy of that value.
///
/// A VARIANT stays on its thread, since an object in it may belong to the thread.
/// [`Agile`](crate::Agile) makes one available to all threads.
#[repr(C, align(8))]
pub struct Variant {
    // Invariant: `data` holds or refers to a value of this type, which is owned unless the variant
    // is by reference.
    vt: u16,
    reserved: [u16; 3],
    /// The type is a pointer so that addresses keep their provenance. Any other value is stored as
    /// an address without provenance.
    data: [*mut c_void; 2],
}

/// The value of a [`Variant`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// The value of an uninitialised variable.
    Empty,
    /// The null value of databases.
    Null,
    /// `VT_I1`.
    I1(i8),
    /// `VT_I2`.
    I2(i16),
    /// `VT_I4` and `VT_INT`.
    I4(i32),
    /// `VT_I8`.
    I8(i64),
    /// `VT_UI1`.
    Ui1(u8),
    /// `VT_UI2`.
    Ui2(u16),
    /// `VT_UI4` and `VT_UINT`.
    Ui4(u32),
    /// `VT_UI8`.
    Ui8(u64),
    /// `VT_R4`.
    R4(f32),
    /// `VT_R8`.
    R8(f64),
    /// `VT_BOOL`.
    Bool(bool),
    /// `VT_ERROR`: an HRESULT, for example that of [`Variant::missing`].
    Error(HRESULT),
    /// `VT_CY`.
    Currency(Currency),
    /// `VT_DATE`: days since 30 December 1899.
    Date(f64),
    /// `VT_DECIMAL`.
    Decimal(Decimal),
    /// `VT_BSTR`.
    Text(Bstr),
    /// `VT_UNKNOWN`.
    Unknown(Option<IUnknown>),
    /// `VT_DISPATCH`.
    Dispatch(Option<IDispatch>),
    /// `VT_ARRAY` with the type of its elements.
    Array(SafeArray),
}

impl Variant {
    /// Returns an empty variant.
    pub const fn new() -> Self {
        Self { vt: vt::EMPTY, reserved: [0; 3], data: [null_mut(); 2] }
    }

    /// Returns the zero of a type: 0, a null string, or a null object.
    pub(crate) const fn zero(vt: u16) -> Self {
        Self { vt, reserved: [0; 3], data: [null_mut(); 2] }
    }

    /// Makes a value of a type that owns nothing, from its bits.
    pub(crate) const fn of_bits(vt: u16, bits: u64) -> Self {
        Self::of_pointer(vt, without_provenance_mut(bits as usize))
    }

    /// Makes a value of a pointer type.
    pub(crate) const fn of_pointer(vt: u16, pointer: *mut c_void) -> Self {
        Self { vt, reserved: [0; 3], data: [pointer, null_mut()] }
    }

    /// Returns the value for an omitted optional argument.
    pub const fn missing() -> Self {
        Self::of_bits(vt::ERROR, code::DISP_E_PARAMNOTFOUND.0.cast_unsigned() as u64)
    }

    /// Returns a `VT_NULL`.
    pub const fn null() -> Self {
        Self::zero(vt::NULL)
    }

    /// Makes a value of an HRESULT.
    pub fn error(code: HRESULT) -> Self {
        Self::of_bits(vt::ERROR, code.0.cast_unsigned().into())
    }

    /// Makes a date: days since 30 December 1899, with the time of day as the fraction.
    pub fn date(days: f64) -> Self {
        Self::of_bits(vt::DATE, days.to_bits())
    }

    /// Makes a value of an object with IDispatch, or of none.
    pub fn dispatch(object: Option<IDispatch>) -> Self {
        Self::of_pointer(vt::DISPATCH, vt::into_raw(object.map(IUnknown::from)))
    }

    /// Makes a reference to a value elsewhere, which the receiver may change.
    ///
    /// # Safety
    ///
    /// While the reference lives, there must be a value of type `vt` at `to`, which may be
    /// [`vt::VARIANT`], and no other code may use it.
    pub unsafe fn by_reference(vt: u16, to: *mut c_void) -> Self {
        Self::of_pointer(vt | vt::BYREF, to)
    }

    /// Returns the type: one of [`vt`], with [`vt::ARRAY`] and [`vt::BYREF`].
    pub const fn vt(&self) -> u16 {
        self.vt
    }

    /// Whether the value stands for an omitted optional argument.
    pub fn is_missing(&self) -> bool {
        self.vt == vt::ERROR && self.bits() as u32 == code::DISP_E_PARAMNOTFOUND.0.cast_unsigned()
    }

    pub(crate) const fn set_type(&mut self, vt: u16) {
        self.vt = vt;
    }

    /// Returns the address of a value of a type within the variant.
    pub(crate) const fn place(&mut self, vt: u16) -> *mut u8 {
        // A DECIMAL covers the whole variant, and its first two bytes are the variant's type.
        if vt == vt::DECIMAL { (&raw mut *self).cast() } else { (&raw mut self.data).cast() }
    }

    /// Returns the address of a value of a type within the variant, for reading.
    pub(crate) const fn data(&self, vt: u16) -> *const u8 {
        if vt == vt::DECIMAL { (&raw const *self).cast() } else { (&raw const self.data).cast() }
    }

    /// Returns the bits of a value of up to 8 bytes.
    pub(crate) fn bits(&self) -> u64 {
        self.data[0].addr() as u64
    }

    /// Returns the type and address of the target, where the variant is by reference.
    pub(crate) fn target(&self) -> Option<(u16, *mut u8)> {
        (self.vt & vt::BYREF != 0).then_some((self.vt & !vt::BYREF, self.data[0].cast()))
    }

    /// Returns a copy; of the target where the variant is by reference.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY; DISP_E_BADVARTYPE for an invalid type; E_POINTER for a null reference.
    pub fn copy(&self) -> Result<Self> {
        if let Some((vt, from)) = self.target() {
            if from.is_null() {
                return Err(Error::new(code::E_POINTER, "a VARIANT by reference leads nowhere"));
            }
            if !vt::is_known(self.vt) {
                return Err(vt::unknown(self.vt));
            }
            // SAFETY: the creator of the reference promises a valid value at its target.
            return unsafe { vt::read(vt, from) };
        }
        let data = match self.vt {
            vt::BSTR => self.as_bstr().map_or(Ok(Bstr::new()), Bstr::copy)?.into_raw().cast(),
            vt::UNKNOWN | vt::DISPATCH => vt::into_raw(self.object()),
            _ if self.vt & vt::ARRAY != 0 => self.as_array().map_or(Ok(SafeArray::null()), SafeArray::copy)?.into_raw(),
            _ if vt::is_known(self.vt) => self.data[0],
            _ => return Err(vt::unknown(self.vt)),
        };
        Ok(Self { vt: self.vt, reserved: self.reserved, data: [data, null_mut()] })
    }

    /// Verifies that the variant owns its value and that no object in it belongs to a thread.
    pub(crate) fn check_objects(&self) -> Result<()> {
        if self.target().is_some() {
            return Err(Error::new(code::E_INVALIDARG, "a VARIANT by reference is somebody else's"));
        }
        match (self.object(), self.as_array()) {
            (Some(object), _) => crate::agile::check(&object),
            (None, Some(array)) => array.check_objects(),
            (None, None) => Ok(()),
        }
    }

    /// Returns the string, if the value is one.
    pub fn as_bstr(&self) -> Option<&Bstr> {
        // SAFETY: by the invariant; a string is a pointer.
        (self.vt == vt::BSTR).then(|| unsafe { &*(&raw const self.data).cast::<Bstr>() })
    }

    /// Returns the array, if the value is one.
    pub fn as_array(&self) -> Option<&SafeArray> {
        let is_array = self.vt & vt::ARRAY != 0 && self.vt & vt::BYREF == 0;
        // SAFETY: by the invariant; an array is a pointer.
        is_array.then(|| unsafe { &*(&raw const self.data).cast::<SafeArray>() })
    }

    /// Returns the object, if the value is one.
    pub fn object(&self) -> Option<IUnknown> {
        let is_object = matches!(self.vt, vt::UNKNOWN | vt::DISPATCH);
        // SAFETY: by the invariant, the data is an interface pointer or null.
        is_object.then(|| unsafe { &*(&raw const self.data).cast::<Option<IUnknown>>() }).cloned().flatten()
    }

    fn decimal(&self) -> Decimal {
        let [scale, low, high] = self.reserved;
        Decimal {
            scale: scale as u8,
            negative: scale >> 8 != 0,
            high: u32::from(low) | u32::from(high) << 16,
            low: self.bits(),
        }
    }

    /// Returns the value or the target's value.
    ///
    /// # Errors
    ///
    /// As for [`Self::copy`].
    pub fn value(&self) -> Result<Value> {
        if self.target().is_some() {
            return self.copy()?.value();
        }
        let bits = self.bits();
        Ok(match self.vt {
            vt::EMPTY => Value::Empty,
            vt::NULL => Value::Null,
            vt::I1 => Value::I1(bits as i8),
            vt::I2 => Value::I2(bits as i16),
            vt::I4 | vt::INT => Value::I4(bits as i32),
            vt::I8 => Value::I8(bits as i64),
            vt::UI1 => Value::Ui1(bits as u8),
            vt::UI2 => Value::Ui2(bits as u16),
            vt::UI4 | vt::UINT => Value::Ui4(bits as u32),
            vt::UI8 => Value::Ui8(bits),
            vt::R4 => Value::R4(f32::from_bits(bits as u32)),
            vt::R8 => Value::R8(f64::from_bits(bits)),
            vt::BOOL => Value::Bool(bits as u16 != 0),
            vt::ERROR => Value::Error(HRESULT(bits as i32)),
            vt::CY => Value::Currency(Currency(bits as i64)),
            vt::DATE => Value::Date(f64::from_bits(bits)),
            vt::DECIMAL => Value::Decimal(self.decimal()),
            vt::BSTR => Value::Text(self.as_bstr().cloned().unwrap_or_default()),
            vt::UNKNOWN => Value::Unknown(self.object()),
            vt::DISPATCH => {
                Value::Dispatch(self.object().map(|object| {
                    // SAFETY: by the invariant, the object is an IDispatch.
                    unsafe { IDispatch::from_raw(object.into_raw()) }
                }))
            }
            _ => match self.as_array() {
                Some(array) => Value::Array(array.copy()?),
                None => return Err(vt::unknown(self.vt)),
            },
        })
    }
}

impl Drop for Variant {
    fn drop(&mut self) {
        if vt::owns(self.vt) {
            let vt = self.vt;
            // SAFETY: by the invariant.
            unsafe { vt::clear(vt, self.place(vt)) };
        }
    }
}

impl Default for Variant {
    fn default() -> Self {
        Self::new()
    }
}

/// # Panics
///
/// If [`Variant::copy`] fails.
impl Clone for Variant {
    fn clone(&self) -> Self {
        self.copy().expect("a value that can be copied")
    }
}

impl PartialEq for Variant {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.value(), other.value()), (Ok(own), Ok(other)) if own == other)
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value() {
            Ok(value) => value.fmt(f),
            Err(_) => write!(f, "VT {:#x}", self.vt),
        }
    }
}

impl From<Value> for Variant {
    fn from(value: Value) -> Self {
        match value {
            Value::Empty => Self::new(),
            Value::Null => Self::null(),
            Value::I1(value) => Self::of_bits(vt::I1, value as u8 as u64),
            Value::I2(value) => Self::of_bits(vt::I2, value as u16 as u64),
            Value::I4(value) => Self::of_bits(vt::I4, value as u32 as u64),
            Value::I8(value) => Self::of_bits(vt::I8, value as u64),
            Value::Ui1(value) => Self::of_bits(vt::UI1, value.into()),
            Value::Ui2(value) => Self::of_bits(vt::UI2, value.into()),
            Value::Ui4(value) => Self::of_bits(vt::UI4, value.into()),
            Value::Ui8(value) => Self::of_bits(vt::UI8, value),
            Value::R4(value) => Self::of_bits(vt::R4, value.to_bits().into()),
            Value::R8(value) => Self::of_bits(vt::R8, value.to_bits()),
            Value::Bool(value) => Self::of_bits(vt::BOOL, if value { 0xffff } else { 0 }),
            Value::Error(code) => Self::error(code),
            Value::Currency(value) => Self::of_bits(vt::CY, value.0 as u64),
            Value::Date(days) => Self::date(days),
            Value::Decimal(value) => {
                let scale = u16::from(value.scale) | if value.negative { 0x8000 } else { 0 };
                let reserved = [scale, value.high as u16, (value.high >> 16) as u16];
                Self { vt: vt::DECIMAL, reserved, data: [without_provenance_mut(value.low as usize), null_mut()] }
            }
            Value::Text(text) => Self::of_pointer(vt::BSTR, text.into_raw().cast()),
            Value::Unknown(object) => Self::of_pointer(vt::UNKNOWN, vt::into_raw(object)),
            Value::Dispatch(object) => Self::dispatch(object),
            Value::Array(array) => Self::of_pointer(vt::ARRAY | array.vt(), array.into_raw()),
        }
    }
}

/// Implements the conversions between a variant and a Rust type that it can hold: `From` for the
/// variant, and `TryFrom` for the type.
macro_rules! held {
    ($($ty:ty, $value:ident, $vt:ident;)*) => {$(
        impl From<$ty> for Variant {
            fn from(value: $ty) -> Self {
                Value::$value(value).into()
            }
        }

        impl TryFrom<&Variant> for $ty {
            type Error = Error;
            fn try_from(value: &Variant) -> Result<Self> {
                match value.change_type(vt::$vt)?.value()? {
                    Value::$value(value) => Ok(value),
                    _ => Err(code::DISP_E_TYPEMISMATCH.into()),
                }
            }
        }
    )*};
}

held! {
    i8, I1, I1;
    i16, I2, I2;
    i32, I4, I4;
    i64, I8, I8;
    u8, Ui1, UI1;
    u16, Ui2, UI2;
    u32, Ui4, UI4;
    u64, Ui8, UI8;
    f32, R4, R4;
    f64, R8, R8;
    bool, Bool, BOOL;
    Currency, Currency, CY;
    Decimal, Decimal, DECIMAL;
    Bstr, Text, BSTR;
}

impl From<&str> for Variant {
    fn from(text: &str) -> Self {
        Bstr::from(text).into()
    }
}

impl From<SafeArray> for Variant {
    fn from(array: SafeArray) -> Self {
        Value::Array(array).into()
    }
}

impl From<IDispatch> for Variant {
    fn from(object: IDispatch) -> Self {
        Self::dispatch(Some(object))
    }
}

impl From<IUnknown> for Variant {
    fn from(object: IUnknown) -> Self {
        Value::Unknown(Some(object)).into()
    }
}

impl TryFrom<&Variant> for String {
    type Error = Error;
    fn try_from(value: &Variant) -> Result<Self> {
        Ok(Bstr::try_from(value)?.to_string())
    }
}

impl sealed::Sealed for Variant {
    fn shared(&self) -> Result<Self> {
        let copy = self.copy()?;
        copy.check_objects()?;
        Ok(copy)
    }
}
