//! Values of Python as arguments.

use obvia::dynamic::guid;
use obvia_idl::frames::{Given, Label, Named};
use obvia_idl::model::Base;
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PyList, PyString, PyTuple, PyType};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// An argument, or a part of one.
#[derive(Clone)]
pub(crate) struct Argument<'py> {
    pub(crate) value: Bound<'py, PyAny>,
    failure: Failure,
}

/// The first exception that was raised while arguments were read.
#[derive(Clone, Default)]
pub(crate) struct Failure(Rc<RefCell<Option<PyErr>>>);

impl Failure {
    /// Keeps an exception, unless an earlier one is kept.
    pub(crate) fn keep(&self, failure: PyErr) {
        self.0.borrow_mut().get_or_insert(failure);
    }

    /// Returns the kept exception, if there is one.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.take()
    }
}

impl<'py> Argument<'py> {
    /// Makes an argument from a value. Exceptions that the value raises are kept in `failure`.
    pub(crate) fn new(value: Bound<'py, PyAny>, failure: &Failure) -> Self {
        Self { value, failure: failure.clone() }
    }

    /// Returns the place in which exceptions are kept.
    pub(crate) fn failure(&self) -> &Failure {
        &self.failure
    }

    fn part(&self, value: Bound<'py, PyAny>) -> Self {
        Self::new(value, &self.failure)
    }

    /// Returns the value that was read, or `None` after an exception. Keeps the exception, unless
    /// it is a TypeError or OverflowError, which say that the value has another type.
    fn read<T>(&self, read: PyResult<T>) -> Option<T> {
        let py = self.value.py();
        let is_other_type = |failure: &PyErr| {
            failure.is_instance_of::<PyTypeError>(py) || failure.is_instance_of::<PyOverflowError>(py)
        };
        match read {
            Ok(read) => return Some(read),
            Err(failure) if is_other_type(&failure) => {}
            Err(failure) => self.failure.keep(failure),
        }
        None
    }

    fn dict(&self) -> Option<&Bound<'py, PyDict>> {
        self.value.cast::<PyDict>().ok()
    }

    /// Returns the names of the members that an object has as a structure. `None` if the object
    /// cannot be a structure.
    ///
    /// The server's description names the members to read. Only members that the object's class
    /// declares are read. Otherwise the server could request any data of the program by the names
    /// of other attributes.
    fn members(&self) -> Option<Bound<'py, PyFrozenSet>> {
        static MEMBERS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let (py, class) = (self.value.py(), self.value.get_type());
        let get = || Ok(py.import("obvia._types")?.getattr("members")?.unbind());
        let members = MEMBERS.get_or_try_init(py, get).and_then(|members| members.bind(py).call1((class,)));
        self.read(members).and_then(|members| members.cast_into::<PyFrozenSet>().ok())
    }

    /// Returns an attribute of an object whose class is from `obvia._types` or the standard
    /// library.
    fn attribute(&self, name: &str) -> Option<Bound<'py, PyAny>> {
        self.read(self.value.getattr_opt(name)).flatten()
    }

    fn is_of(&self, class: &PyOnceLock<Py<PyType>>, module: &str, name: &str) -> bool {
        class
            .import(self.value.py(), module, name)
            .is_ok_and(|class| self.value.get_type().is_subclass(class).unwrap_or(false))
    }

    /// Copies the elements of a buffer. `None` for other values and for other element types.
    fn buffer<T: Element + Copy, const N: usize>(&self, bytes: fn(T) -> [u8; N]) -> Option<Vec<u8>> {
        let buffer = PyBuffer::<T>::get(&self.value).ok()?;
        let elements = buffer.to_vec(self.value.py()).ok()?;
        Some(elements.into_iter().flat_map(bytes).collect())
    }
}

impl Given for Argument<'_> {
    fn is_null(&self) -> bool {
        self.value.is_none()
    }

    fn integer(&self) -> Option<i128> {
        if let Ok(number) = self.value.extract::<i64>() {
            return Some(number.into());
        }
        self.read(self.value.extract::<u64>()).map(i128::from)
    }

    fn float(&self) -> Option<f64> {
        self.read(self.value.extract())
    }

    fn boolean(&self) -> Option<bool> {
        self.read(self.value.extract())
    }

    fn text(&self) -> Option<Cow<'_, str>> {
        self.value.cast::<PyString>().ok()?.to_cow().ok()
    }

    /// Reads a GUID from a text or from a `uuid.UUID`, whose attribute `int` is the number. `None`
    /// for other values.
    fn guid(&self) -> Option<u128> {
        static UUID: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        match self.text() {
            Some(text) => guid::parse(&text).map(|guid| guid.to_u128()),
            None if self.is_of(&UUID, "uuid", "UUID") => self.attribute("int")?.extract().ok(),
            None => None,
        }
    }

    fn context(&self) -> Option<[u8; 20]> {
        self.value.cast::<PyBytes>().ok()?.as_bytes().try_into().ok()
    }

    fn elements(&self) -> Option<Vec<Self>> {
        self.length()?;
        let items = self.read(self.value.try_iter())?;
        items.map(|item| self.read(item).map(|item| self.part(item))).collect()
    }

    /// Returns the length of a sequence or another collection. `None` for an iterator: an iterator
    /// over a file or a queue would send the contents to the server.
    fn length(&self) -> Option<usize> {
        if self.value.is_instance_of::<PyString>() || self.dict().is_some() {
            return None;
        }
        self.read(self.value.len())
    }

    fn bytes(&self, element: Base) -> Option<Cow<'_, [u8]>> {
        if let Ok(bytes) = self.value.cast::<PyBytes>() {
            return (element.size() == 1).then(|| Cow::Borrowed(bytes.as_bytes()));
        }
        if self.value.is_instance_of::<PyList>() || self.value.is_instance_of::<PyTuple>() {
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
        self.dict().is_some() || self.members().is_some()
    }

    fn member(&self, name: &str) -> Option<Self> {
        let found = match self.dict() {
            Some(dict) => self.read(dict.get_item(name))?,
            None if self.members()?.contains(name).unwrap_or(false) => self.attribute(name),
            None => None,
        };
        found.map(|found| self.part(found))
    }

    /// Returns a key of a dictionary that is not among `names`, if there is one. Other objects are
    /// not searched, because they may have attributes besides the members.
    fn other_member(&self, names: &[&str]) -> Option<String> {
        let is_known = |key: &String| names.contains(&key.as_str());
        self.dict()?.keys().iter().map(|key| key.to_string()).find(|key| !is_known(key))
    }

    /// Reads a union from a `Union`, or from a dictionary with its arm. `None` for other values.
    fn arm(&self) -> Option<Named<Self>> {
        static UNION: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let given = |name: &str| self.attribute(name).filter(|value| !value.is_none());
        let Some(dict) = self.dict() else {
            if !self.is_of(&UNION, "obvia._types", "Union") {
                return None;
            }
            let arm = match given("arm") {
                Some(name) => Some((self.read(name.extract())?, self.part(self.attribute("value")?))),
                None => None,
            };
            let case = given("case").map(|case| self.part(case));
            return (arm.is_some() || case.is_some()).then_some(Named { arm, case });
        };
        let mut arms = dict.iter().map(|(key, value)| (key.to_string(), self.part(value)));
        let arm = arms.find(|(name, _)| name != "case");
        Some(Named { arm, case: self.member("case") })
    }

    /// Returns the address of a structure's object as its label. The address is unique, because the
    /// object is alive during the call.
    fn label(&self) -> Label {
        if self.is_structure() { Label::Of((self.value.as_ptr() as usize).to_string()) } else { Label::None }
    }

    fn shown(&self) -> String {
        let name = self.value.get_type().name().map_or_else(|_| "a value".to_owned(), |name| name.to_string());
        match self.value.repr() {
            Ok(text) if self.value.is_none() => text.to_string(),
            Ok(text) if text.len().is_ok_and(|length| length <= 60) => format!("{name} {text}"),
            _ => name,
        }
    }

    fn form(&self, members: &[&str]) -> String {
        format!("a structure or a dict with {}", members.join(", "))
    }
}
