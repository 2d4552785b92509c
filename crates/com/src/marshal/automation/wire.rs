//! The wire forms of Automation's types in memory: the structures of `oaidl.idl`, each an
//! allocation of its own.
//!
//! Received structures have been checked as all structures with pointers are: pointers have valid
//! targets, and arrays have as many elements as their counts say. This module checks the rules that
//! are specific to Automation.

use super::bstr::Bstr;
use super::value::{self, Bound, DIMENSIONS_MAX, FADF_HAVEVARTYPE, SafeArray, Variant};
use super::vt;
use crate::types::error::{Error, Result, code};
use crate::types::memory::{allocate_zeroed, release, slice};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use windows_core::{GUID, IUnknown, Interface};

/// The greatest depth of nested values.
const DEPTH_MAX: usize = 32;
/// The length that the wire form of a null string states.
const NO_TEXT: u32 = u32::MAX;

/// The structure FLAGGED_WORD_BLOB without its last member: the units of the string, which follow
/// the structure.
#[repr(C)]
pub(super) struct WireBstr {
    bytes: u32,
    units: u32,
}

/// The structure wireVARIANT.
#[repr(C)]
pub(super) struct WireVariant {
    /// The size in units of 8 bytes.
    size: u32,
    reserved: u32,
    pub(super) vt: u16,
    reserved_words: [u16; 3],
    arm: [*mut u8; 2],
}

/// The structure wireSAFEARRAY without its last member: the bounds of the dimensions, which follow
/// the structure.
#[repr(C)]
pub(super) struct WireArray {
    dimensions: u16,
    features: u16,
    element_size: u32,
    /// The lock count in the lower half, and the elements' type in the upper half.
    locks: u32,
    padding: u32,
    kind: u64,
    count: u32,
    elements: *mut u8,
    iid: GUID,
}

fn invalid(words: &str) -> Error {
    Error::new(code::RPC_E_INVALID_DATA, words)
}

/// The allocations of wire forms. The drop frees them unless [`Self::keep`] was called.
pub struct Wires {
    memory: Vec<*mut c_void>,
    /// The references to objects that the wire forms own.
    objects: Vec<IUnknown>,
    /// Whether objects in the wire forms get references of their own.
    owned: bool,
}

impl Wires {
    /// Makes an empty set for values whose owner keeps them while the wire forms exist.
    pub const fn lent() -> Self {
        Self { memory: Vec::new(), objects: Vec::new(), owned: false }
    }

    /// Makes an empty set for values whose wire forms the receiver frees.
    pub const fn owned() -> Self {
        Self { memory: Vec::new(), objects: Vec::new(), owned: true }
    }

    /// Releases ownership of all wire forms to the holder of the addresses.
    pub fn keep(mut self) {
        self.memory.clear();
        self.objects.drain(..).for_each(std::mem::forget);
    }

    fn add(&mut self, bytes: usize) -> Result<*mut u8> {
        let memory = allocate_zeroed(bytes)?;
        self.memory.push(memory);
        Ok(memory.cast())
    }

    /// Allocates a pointer to `to`.
    pub(super) fn cell(&mut self, to: *mut u8) -> Result<*mut u8> {
        let cell = self.add(size_of::<*mut u8>())?;
        // SAFETY: the allocation has room for a pointer.
        unsafe { cell.cast::<*mut u8>().write(to) };
        Ok(cell)
    }

    fn object(&mut self, object: *mut u8) -> *mut u8 {
        let raw: *mut c_void = object.cast();
        if self.owned {
            // SAFETY: the value is an interface pointer or null.
            self.objects.extend(unsafe { IUnknown::from_raw_borrowed(&raw) }.cloned());
        }
        object
    }

    pub(super) fn bstr(&mut self, text: &Bstr) -> Result<*mut u8> {
        let bytes = text.as_bytes();
        let units = bytes.len().div_ceil(2);
        let made = self.add(size_of::<WireBstr>() + units * 2)?;
        let length = if text.as_ptr().is_null() { NO_TEXT } else { bytes.len() as u32 };
        // SAFETY: the allocation has room for the structure.
        unsafe { made.cast::<WireBstr>().write(WireBstr { bytes: length, units: units as u32 }) };
        // SAFETY: the allocation has room for the units after the structure.
        let to = unsafe { made.add(size_of::<WireBstr>()) };
        // SAFETY: the allocation has room for the bytes. It is fresh, so the ranges do not overlap.
        unsafe { to.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(made)
    }

    fn made(&mut self, vt: u16, arm: [*mut u8; 2], bytes: usize) -> Result<*mut u8> {
        let made = self.add(size_of::<WireVariant>())?;
        // The size comprises the header, the discriminant and the value.
        let size = (20 + bytes).div_ceil(8) as u32;
        // SAFETY: the allocation has room for the structure.
        unsafe {
            made.cast::<WireVariant>().write(WireVariant { size, reserved: 0, vt, reserved_words: [0; 3], arm });
        }
        Ok(made)
    }

    pub(super) fn variant(&mut self, value: &Variant, depth: usize) -> Result<*mut u8> {
        if depth > DEPTH_MAX {
            return Err(Error::new(code::E_INVALIDARG, "VARIANTs are nested too deeply"));
        }
        // For a value by reference, a copy of its target is sent.
        if value.target().is_some() {
            return self.variant(&value.copy()?, depth + 1);
        }
        let vt = value.vt();
        if !vt::is_known(vt) {
            return Err(vt::unknown(vt));
        }
        // SAFETY: `value.data(vt)` leads to the variant's value, which is of type `vt`.
        let (arm, bytes) = unsafe { self.arm(vt, value.data(vt), depth) }?;
        self.made(vt, arm, bytes)
    }

    /// Returns the arm of the union for a value, and the number of bytes that the value adds to the
    /// VARIANT's size.
    ///
    /// # Safety
    ///
    /// There must be a value of that type at `from`.
    unsafe fn arm(&mut self, vt: u16, from: *const u8, depth: usize) -> Result<([*mut u8; 2], usize)> {
        let mut arm = [std::ptr::null_mut(); 2];
        if matches!(vt, vt::EMPTY | vt::NULL) {
            return Ok((arm, 0));
        }
        let bytes = vt::size(vt).ok_or_else(|| vt::unknown(vt))?;
        if vt == vt::BSTR {
            // SAFETY: the caller promises a value of type `vt` at `from`: a string.
            let text = unsafe { &*from.cast::<Bstr>() };
            arm[0] = self.bstr(text)?;
            return Ok((arm, 16 + text.as_bytes().len()));
        }
        if vt & vt::ARRAY != 0 {
            // SAFETY: the caller promises a value of type `vt` at `from`: an array.
            let array = unsafe { &*from.cast::<SafeArray>() };
            let made = self.array(array, depth + 1)?;
            // A PSAFEARRAY is a pointer to a pointer (MS-OAUT 2.2.29.1).
            arm[0] = if made.is_null() { made } else { self.cell(made)? };
            return Ok((arm, 44 + array.len() * array.element_size()));
        }
        // SAFETY: the caller promises a value of `bytes` bytes at `from`. An arm has 16 bytes.
        unsafe { arm.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, bytes) };
        match vt {
            vt::UNKNOWN | vt::DISPATCH => arm[0] = self.object(arm[0]),
            // The first two bytes of a DECIMAL in memory are the VARIANT's type.
            // SAFETY: the write is within the arm.
            vt::DECIMAL => unsafe { arm.as_mut_ptr().cast::<u16>().write(0) },
            _ => {}
        }
        Ok((arm, bytes))
    }

    /// Returns the wire form of an argument that a call by name passes by reference. The form
    /// includes the argument's target.
    pub(super) fn reference(&mut self, value: &Variant) -> Result<*mut u8> {
        let (vt, from) = value.target().filter(|(_, from)| !from.is_null()).ok_or(code::E_POINTER)?;
        if !vt::is_known(value.vt()) {
            return Err(vt::unknown(value.vt()));
        }
        if vt == vt::VARIANT {
            // SAFETY: the creator of the reference promises a valid value at its target.
            let inner = self.variant(unsafe { &*from.cast::<Variant>() }, 1)?;
            let cell = self.cell(inner)?;
            return self.made(value.vt(), [cell, std::ptr::null_mut()], 24);
        }
        // SAFETY: the creator of the reference promises a valid value of type `vt` at its target.
        let (arm, bytes) = unsafe { self.arm(vt, from, 1) }?;
        let cell = self.add(16)?;
        // SAFETY: the allocation has room for the arm.
        unsafe { cell.cast::<[*mut u8; 2]>().write(arm) };
        self.made(value.vt(), [cell, std::ptr::null_mut()], bytes + 4)
    }

    fn array(&mut self, array: &SafeArray, depth: usize) -> Result<*mut u8> {
        if array.is_null() {
            return Ok(std::ptr::null_mut());
        }
        let (vt, count, size) = (array.vt(), array.len(), array.element_size());
        let kind = kind_of(vt).ok_or_else(|| {
            Error::new(code::DISP_E_BADVARTYPE, "an array's elements have a type that cannot be passed")
        })?;
        let each = if is_pointer(kind) { size_of::<*mut u8>() } else { size };
        let elements = self.add(count * each)?;
        for at in 0..count {
            // SAFETY: the element is within the array.
            let from = unsafe { array.data().add(at * size) };
            let made = match kind {
                // SAFETY: `from` leads to an element of the array, which is a string.
                vt::BSTR => self.bstr(unsafe { &*from.cast::<Bstr>() })?,
                // SAFETY: `from` leads to an element of the array, which is a VARIANT.
                vt::VARIANT => self.variant(unsafe { &*from.cast::<Variant>() }, depth)?,
                // SAFETY: `from` leads to an element of the array: an interface pointer or null.
                vt::UNKNOWN | vt::DISPATCH => self.object(unsafe { from.cast::<*mut u8>().read() }),
                _ => break,
            };
            // SAFETY: the allocation has room for all elements.
            unsafe { elements.cast::<*mut u8>().wrapping_add(at).write(made) };
        }
        if !is_pointer(kind) {
            // SAFETY: `elements` is fresh memory with room for `count * size` bytes.
            unsafe { elements.copy_from_nonoverlapping(array.data(), count * size) };
        }
        let bounds = array.stored();
        let made = self.add(size_of::<WireArray>() + size_of_val(bounds))?;
        let wire = WireArray {
            dimensions: bounds.len() as u16,
            features: array.features(),
            element_size: if vt == vt::VARIANT { 16 } else { each as u32 },
            locks: u32::from(vt) << 16,
            padding: 0,
            kind: kind.into(),
            count: count as u32,
            elements,
            iid: GUID::zeroed(),
        };
        // SAFETY: the allocation has room for the structure and its bounds.
        unsafe { made.cast::<WireArray>().write(wire) };
        // SAFETY: the allocation has room for the bounds after the structure.
        let to = unsafe { made.add(size_of::<WireArray>()) };
        // SAFETY: the allocation has room for the bounds. It is fresh, so the ranges do not
        // overlap.
        unsafe { to.cast::<Bound>().copy_from_nonoverlapping(bounds.as_ptr(), bounds.len()) };
        Ok(made)
    }
}

impl Drop for Wires {
    fn drop(&mut self) {
        for memory in &self.memory {
            // SAFETY: the memory is from `add` and has not been released.
            unsafe { release(*memory) };
        }
    }
}

/// Returns the wire type of elements, an `SF_TYPE`. `None` for a type that has none.
const fn kind_of(vt: u16) -> Option<u16> {
    Some(match vt {
        vt::BSTR | vt::UNKNOWN | vt::DISPATCH | vt::VARIANT => vt,
        vt::I1 | vt::UI1 => vt::I1,
        vt::I2 | vt::UI2 | vt::BOOL => vt::I2,
        vt::I4 | vt::UI4 | vt::INT | vt::UINT | vt::R4 | vt::ERROR => vt::I4,
        vt::I8 | vt::UI8 | vt::R8 | vt::CY | vt::DATE => vt::I8,
        _ => return None,
    })
}

const fn is_pointer(kind: u16) -> bool {
    matches!(kind, vt::BSTR | vt::UNKNOWN | vt::DISPATCH | vt::VARIANT)
}

/// Returns the target of a pointer.
///
/// # Safety
///
/// There must be a pointer at `at`.
const unsafe fn pointer(at: *const u8) -> *const u8 {
    // SAFETY: the caller promises a pointer at `at`.
    unsafe { at.cast::<*const u8>().read() }
}

/// # Safety
///
/// As for [`Automation::from_wire`].
pub(super) unsafe fn to_bstr(wire: *const u8) -> Result<Bstr> {
    // SAFETY: the caller promises that `wire` is null or leads to the wire form of a string.
    let Some(found) = (unsafe { wire.cast::<WireBstr>().as_ref() }) else { return Ok(Bstr::new()) };
    if found.bytes == NO_TEXT && found.units == 0 {
        return Ok(Bstr::new());
    }
    if (found.bytes as usize).div_ceil(2) != found.units as usize {
        return Err(invalid("a BSTR's byte count does not match its number of characters"));
    }
    // SAFETY: the units follow the structure.
    let bytes = unsafe { slice(wire.wrapping_add(size_of::<WireBstr>()), found.bytes as usize) };
    Bstr::from_bytes(bytes)
}

/// # Safety
///
/// As for [`Automation::from_wire`].
pub(super) unsafe fn to_variant(wire: *const u8, depth: usize) -> Result<Variant> {
    // SAFETY: the caller promises that `wire` is null or leads to the wire form of a VARIANT.
    let Some(found) = (unsafe { wire.cast::<WireVariant>().as_ref() }) else { return Ok(Variant::new()) };
    if depth > DEPTH_MAX {
        return Err(invalid("VARIANTs are nested too deeply"));
    }
    if !vt::is_known(found.vt) {
        return Err(invalid("a VARIANT has an unknown type"));
    }
    let vt = found.vt & !vt::BYREF;
    let from: *const u8 = (&raw const found.arm).cast();
    if found.vt & vt::BYREF == 0 {
        // SAFETY: the check of the frame has verified that the arm contains a value of type `vt`.
        return unsafe { of_arm(vt, from, depth) };
    }
    if found.arm[0].is_null() {
        return Err(invalid("a VARIANT by reference has a null pointer"));
    }
    if vt == vt::VARIANT {
        // SAFETY: the check of the frame has verified the arm: a pointer to a pointer to a VARIANT.
        let inner = unsafe { pointer(found.arm[0]) };
        // SAFETY: the check of the frame has verified `inner`: null, or a VARIANT's wire form.
        return unsafe { to_variant(inner, depth + 1) };
    }
    // SAFETY: the check of the frame has verified the arm: a pointer to a value of type `vt`.
    unsafe { of_arm(vt, found.arm[0], depth) }
}

/// # Safety
///
/// As for [`Automation::from_wire`], of a value of that type.
unsafe fn of_arm(vt: u16, from: *const u8, depth: usize) -> Result<Variant> {
    if matches!(vt, vt::EMPTY | vt::NULL) {
        return Ok(Variant::zero(vt));
    }
    if vt == vt::BSTR {
        // SAFETY: the caller promises the wire form of a value of type `vt`, which is a pointer.
        let text = unsafe { pointer(from) };
        // SAFETY: the caller promises that `text` is null or leads to a string's wire form.
        return Ok(unsafe { to_bstr(text) }?.into());
    }
    if vt & vt::ARRAY != 0 {
        // SAFETY: the caller promises the wire form of a value of type `vt`, which is a pointer.
        let cell = unsafe { pointer(from) };
        let array = if cell.is_null() {
            cell
        } else {
            // SAFETY: the cell is not null, so the caller promises another pointer in it.
            unsafe { pointer(cell) }
        };
        // SAFETY: the caller promises that `array` is null or leads to the wire form of an array.
        let array = unsafe { to_array(array, depth + 1) }?;
        if !array.is_null() && vt::ARRAY | array.vt() != vt {
            return Err(invalid("a VARIANT's type does not match the element type of its array"));
        }
        return Ok(Variant::of_pointer(vt, array.into_raw()));
    }
    // SAFETY: the caller promises a value of type `vt`, whose wire form is its form in memory.
    unsafe { value::read(vt, from) }
}

/// # Safety
///
/// As for [`Automation::from_wire`].
unsafe fn to_array(wire: *const u8, depth: usize) -> Result<SafeArray> {
    // SAFETY: the caller promises that `wire` is null or leads to the wire form of an array.
    let Some(found) = (unsafe { wire.cast::<WireArray>().as_ref() }) else { return Ok(SafeArray::null()) };
    let (dimensions, count) = (usize::from(found.dimensions), found.count as usize);
    if dimensions == 0 || dimensions > DIMENSIONS_MAX {
        return Err(invalid("a SAFEARRAY has no dimensions, or too many"));
    }
    // The lower two bytes are the type; the other bytes are padding.
    let kind = found.kind as u16;
    // An array whose objects have a stated interface (SF_HAVEIID) is treated as an array of
    // objects.
    let kind = if kind == 0x8000 | vt::UNKNOWN { vt::UNKNOWN } else { kind };
    let vt = if found.features & FADF_HAVEVARTYPE != 0 { (found.locks >> 16) as u16 } else { kind };
    if kind_of(vt) != Some(kind) {
        return Err(invalid("a SAFEARRAY's elements do not match its element type"));
    }
    // SAFETY: the bounds follow the structure.
    let stored = unsafe { slice(wire.wrapping_add(size_of::<WireArray>()).cast::<Bound>(), dimensions) };
    if value::number_of_elements(stored) != Some(count) || found.elements.is_null() && count > 0 {
        return Err(invalid("a SAFEARRAY's number of elements does not match its bounds"));
    }
    let bounds: Vec<Bound> = stored.iter().rev().copied().collect();
    let mut made = SafeArray::with_bounds(vt, &bounds)?;
    let size = made.element_size();
    if !is_pointer(kind) {
        // SAFETY: both arrays have `count` elements, which are numbers of `size` bytes.
        unsafe { made.data_mut().copy_from_nonoverlapping(found.elements, count * size) };
        return Ok(made);
    }
    for at in 0..count {
        let from = found.elements.cast::<*const u8>().wrapping_add(at).cast::<u8>().cast_const();
        // SAFETY: the caller promises an array of `count` elements, each of which is a pointer.
        let to = unsafe { pointer(from) };
        let element = match kind {
            // SAFETY: the caller promises that `to` is null or leads to a string's wire form.
            vt::BSTR => unsafe { to_bstr(to) }?.into(),
            // SAFETY: the caller promises that `to` is null or leads to a VARIANT's wire form.
            vt::VARIANT => unsafe { to_variant(to, depth) }?,
            // SAFETY: the caller promises that the element is an interface pointer or null.
            _ => unsafe { value::read(vt, from) }?,
        };
        // SAFETY: the position is within the elements, which are zeros.
        unsafe { value::write(vt, made.data_mut().wrapping_add(at * size), element) }?;
    }
    Ok(made)
}

/// A type whose wire form differs from its memory form.
pub trait Automation: Default {
    /// Converts the value to its wire form.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where no memory is left; the error of a value that has no wire form.
    fn to_wire(&self, wires: &mut Wires) -> Result<*mut u8>;

    /// Converts a value from its wire form.
    ///
    /// # Safety
    ///
    /// `wire` must be null, or lead to a value in the wire form that `oaidl.idl` declares.
    ///
    /// # Errors
    ///
    /// E_OUTOFMEMORY where no memory is left; RPC_E_INVALID_DATA for an invalid value.
    unsafe fn from_wire(wire: *const u8) -> Result<Self>;
}

impl Automation for Bstr {
    fn to_wire(&self, wires: &mut Wires) -> Result<*mut u8> {
        wires.bstr(self)
    }

    unsafe fn from_wire(wire: *const u8) -> Result<Self> {
        // SAFETY: the caller promises that `wire` is null or leads to the wire form of a string.
        unsafe { to_bstr(wire) }
    }
}

impl Automation for Variant {
    fn to_wire(&self, wires: &mut Wires) -> Result<*mut u8> {
        wires.variant(self, 0)
    }

    unsafe fn from_wire(wire: *const u8) -> Result<Self> {
        // SAFETY: the caller promises that `wire` is null or leads to the wire form of a VARIANT.
        unsafe { to_variant(wire, 0) }
    }
}

impl Automation for SafeArray {
    fn to_wire(&self, wires: &mut Wires) -> Result<*mut u8> {
        let array = wires.array(self, 0)?;
        wires.cell(array)
    }

    unsafe fn from_wire(wire: *const u8) -> Result<Self> {
        // SAFETY: the caller promises that `wire` is null or leads to a pointer.
        match unsafe { wire.cast::<*const u8>().as_ref() } {
            // SAFETY: the caller promises that `*array` is null or leads to an array's wire form.
            Some(array) => unsafe { to_array(*array, 0) },
            None => Ok(Self::null()),
        }
    }
}

/// Returns a view of a value that its owner keeps, for a method's input.
///
/// # Safety
///
/// The result must not be dropped, and must not be used after the value's end or change.
pub unsafe fn lent<T: Automation>(value: &T) -> ManuallyDrop<T> {
    // SAFETY: the reference is readable; the caller does not drop the copy of the bits.
    ManuallyDrop::new(unsafe { std::ptr::read(value) })
}
