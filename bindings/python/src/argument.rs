//! Values of Python as arguments.

use obvia::dynamic::guid;
use obvia_idl::frames::{Given, Label, Named};
use obvia_idl::model::Base;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::borrow::Cow;

/// An argument, or a part of one.
#[derive(Clone)]
pub(crate) struct Argument<'py>(pub(crate) Bound<'py, PyAny>);

impl<'py> Argument<'py> {
    fn dict(&self) -> Option<&Bound<'py, PyDict>> {
        self.0.cast::<PyDict>().ok()
    }

    /// Returns an attribute, or none where there is no such attribute.
    fn attribute(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        self.0.getattr_opt(name).ok().flatten()
    }

    /// Copies the elements of a buffer of this element type.
    fn buffer<T: Element + Copy, const N: usize>(&self, bytes: fn(T) -> [u8; N]) -> Option<Vec<u8>> {
        let buffer = PyBuffer::<T>::get(&self.0).ok()?;
        let elements = buffer.to_vec(self.0.py()).ok()?;
        Some(elements.into_iter().flat_map(bytes).collect())
    }
}

impl Given for Argument<'_> {
    fn is_null(&self) -> bool {
        self.0.is_none()
    }

    fn integer(&self) -> Option<i128> {
        if let Ok(number) = self.0.extract::<i64>() {
            return Some(number.into());
        }
        self.0.extract::<u64>().ok().map(i128::from)
    }

    fn float(&self) -> Option<f64> {
        self.0.extract().ok()
    }

    fn boolean(&self) -> Option<bool> {
        self.0.extract().ok()
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        self.0.cast::<PyString>().ok()?.to_cow().ok()
    }

    /// Reads a GUID as a text or as a `uuid.UUID`, which has the number as `int`.
    fn guid(&self) -> Option<u128> {
        match self.text() {
            Some(text) => guid::parse(&text).map(|guid| guid.to_u128()),
            None => self.attribute("int")?.extract().ok(),
        }
    }

    fn context(&self) -> Option<[u8; 20]> {
        self.0.cast::<PyBytes>().ok()?.as_bytes().try_into().ok()
    }

    fn elements(&self) -> Option<Vec<Self>> {
        if self.0.is_instance_of::<PyString>() || self.dict().is_some() {
            return None;
        }
        self.0.try_iter().ok()?.map(|item| item.ok().map(Argument)).collect()
    }

    fn length(&self) -> Option<usize> {
        if self.0.is_instance_of::<PyString>() || self.dict().is_some() {
            return None;
        }
        self.0.len().ok()
    }

    fn bytes(&self, element: Base) -> Option<Cow<'_, [u8]>> {
        if let Ok(bytes) = self.0.cast::<PyBytes>() {
            return (element.size() == 1).then(|| Cow::Borrowed(bytes.as_bytes()));
        }
        if self.0.is_instance_of::<PyList>() || self.0.is_instance_of::<PyTuple>() {
            return None;
        }
        let bytes = match element {
            Base::Byte | Base::Char | Base::U8 => self.buffer::<u8, 1>(u8::to_le_bytes),
            Base::I8 => self.buffer::<i8, 1>(i8::to_le_bytes),
            Base::I16 => self.buffer::<i16, 2>(i16::to_le_bytes),
            Base::WChar | Base::U16 => self.buffer::<u16, 2>(u16::to_le_bytes),
            Base::I32 | Base::Hresult => self.buffer::<i32, 4>(i32::to_le_bytes),
            Base::U32 => self.buffer::<u32, 4>(u32::to_le_bytes),
            Base::I64 => self.buffer::<i64, 8>(i64::to_le_bytes),
            Base::U64 => self.buffer::<u64, 8>(u64::to_le_bytes),
            Base::F32 => self.buffer::<f32, 4>(f32::to_le_bytes),
            Base::F64 => self.buffer::<f64, 8>(f64::to_le_bytes),
            Base::Boolean | Base::Guid | Base::Context => None,
        };
        bytes.map(Cow::Owned)
    }

    fn is_structure(&self) -> bool {
        let value = &self.0;
        let is_simple = value.is_none()
            || value.is_instance_of::<PyInt>()
            || value.is_instance_of::<PyFloat>()
            || value.is_instance_of::<PyString>()
            || value.is_instance_of::<PyBytes>()
            || value.is_instance_of::<PyByteArray>()
            || value.is_instance_of::<PyList>()
            || value.is_instance_of::<PyBool>();
        !is_simple
    }

    fn member(&self, name: &str) -> Option<Self> {
        match self.dict() {
            Some(dict) => dict.get_item(name).ok().flatten().map(Argument),
            None => self.attribute(name).map(Argument),
        }
    }

    /// Returns an unknown key of a dictionary. Objects may have more attributes.
    fn other_member(&self, names: &[&str]) -> Option<String> {
        let is_known = |key: &String| names.contains(&key.as_str());
        self.dict()?.keys().iter().map(|key| key.to_string()).find(|key| !is_known(key))
    }

    /// Reads a union as a `Union`, or as a dictionary with its arm.
    fn arm(&self) -> Option<Named<Self>> {
        let Some(dict) = self.dict() else {
            let name = self.attribute("arm").filter(|name| !name.is_none());
            let arm = match name {
                Some(name) => Some((name.extract().ok()?, Argument(self.attribute("value")?))),
                None => None,
            };
            let case = self.attribute("case").filter(|case| !case.is_none()).map(Argument);
            return (arm.is_some() || case.is_some()).then_some(Named { arm, case });
        };
        let mut arms = dict.iter().map(|(key, value)| (key.to_string(), Argument(value)));
        let arm = arms.find(|(name, _)| name != "case");
        Some(Named { arm, case: self.member("case") })
    }

    /// The identity of an object of Python is its address, as it is alive during the call.
    fn label(&self) -> Label {
        if self.is_structure() { Label::Of((self.0.as_ptr() as usize).to_string()) } else { Label::None }
    }

    fn shown(&self) -> String {
        let name = self.0.get_type().name().map_or_else(|_| "a value".to_owned(), |name| name.to_string());
        match self.0.repr() {
            Ok(text) if self.0.is_none() => text.to_string(),
            Ok(text) if text.len().is_ok_and(|length| length <= 60) => format!("{name} {text}"),
            _ => name,
        }
    }

    fn form(&self, members: &[&str]) -> String {
        format!("an object or a dict with {}", members.join(", "))
    }
}
