//! Results as values of Python.

use crate::interface::Interface;
use obvia::dynamic::guid;
use obvia_idl::frames::{self, Make};
use obvia_idl::model::{Base, EnumId, StructId, Type, UnionId};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyList, PyString};
use std::collections::HashMap;

/// The maker of Python's values from the values in a frame.
pub(crate) struct Results<'py, 'o> {
    py: Python<'py>,
    interface: &'static Interface,
    /// Makes a value from an object reference.
    adopt: &'o dyn Fn(&[u8]) -> PyResult<Bound<'py, PyAny>>,
    /// The structures to which several pointers lead.
    labelled: HashMap<usize, Bound<'py, PyAny>>,
    /// The first exception that the making of a value raised.
    failure: Option<PyErr>,
}

impl<'py, 'o> Results<'py, 'o> {
    pub(crate) fn new(
        py: Python<'py>,
        interface: &'static Interface,
        adopt: &'o dyn Fn(&[u8]) -> PyResult<Bound<'py, PyAny>>,
    ) -> Self {
        Self { py, interface, adopt, labelled: HashMap::new(), failure: None }
    }

    /// Returns the exception because of which a value could not be made, if there is one.
    pub(crate) fn failure(self) -> Option<PyErr> {
        self.failure
    }

    /// Returns the made value, or `None` if its making raised an exception. Keeps the first
    /// exception.
    fn keep<T>(&mut self, made: PyResult<T>) -> Option<T> {
        made.map_err(|failure| _ = self.failure.get_or_insert(failure)).ok()
    }

    fn value(&mut self, value: impl IntoPyObjectExt<'py>) -> Option<Bound<'py, PyAny>> {
        let made = value.into_bound_py_any(self.py);
        self.keep(made)
    }
}

/// Splits bytes into the elements of an array.
fn split<const N: usize>(bytes: &[u8]) -> impl ExactSizeIterator<Item = [u8; N]> + '_ {
    bytes.as_chunks::<N>().0.iter().copied()
}

impl<'py> Make for Results<'py, '_> {
    type Value = Bound<'py, PyAny>;
    type Structure = Bound<'py, PyAny>;
    const DEPTH_MAX: usize = frames::DEPTH_MAX;

    fn null(&mut self) -> Option<Self::Value> {
        Some(self.py.None().into_bound(self.py))
    }

    fn base(&mut self, base: Base, bytes: &[u8]) -> Option<Self::Value> {
        match base {
            Base::Boolean => match bytes.first()? {
                0 => self.value(false),
                1 => self.value(true),
                _ => None,
            },
            Base::Byte | Base::Char | Base::U8 => self.value(bytes.first()?),
            Base::I8 => self.value(bytes.first()?.cast_signed()),
            Base::WChar | Base::U16 => self.value(u16::from_le_bytes(*bytes.first_chunk()?)),
            Base::I16 => self.value(i16::from_le_bytes(*bytes.first_chunk()?)),
            Base::I32 => self.value(i32::from_le_bytes(*bytes.first_chunk()?)),
            Base::U32 | Base::Hresult => self.value(u32::from_le_bytes(*bytes.first_chunk()?)),
            Base::I64 => self.value(i64::from_le_bytes(*bytes.first_chunk()?)),
            Base::U64 => self.value(u64::from_le_bytes(*bytes.first_chunk()?)),
            Base::F32 => self.value(f32::from_le_bytes(*bytes.first_chunk()?)),
            Base::F64 => self.value(f64::from_le_bytes(*bytes.first_chunk()?)),
            Base::Guid => {
                static UUID: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
                let text = guid::to_text(&guid::from_wire(*bytes.first_chunk()?));
                let class = UUID
                    .get_or_try_init(self.py, || Ok(self.py.import("uuid")?.getattr("UUID")?.unbind()))
                    .and_then(|class| class.bind(self.py).call1((text,)));
                self.keep(class)
            }
            Base::Context => Some(PyBytes::new(self.py, bytes.get(..20)?).into_any()),
        }
    }

    fn enumeration(&mut self, id: EnumId, number: i32) -> Option<Self::Value> {
        let made = self.interface.enumeration(self.py, id).and_then(|class| class.call1((number,)));
        self.keep(made)
    }

    fn text(&mut self, text: String) -> Option<Self::Value> {
        Some(PyString::new(self.py, &text).into_any())
    }

    fn list(&mut self, elements: Vec<Self::Value>) -> Option<Self::Value> {
        let made = PyList::new(self.py, elements);
        self.keep(made.map(Bound::into_any))
    }

    fn bytes(&mut self, element: Base, bytes: &[u8]) -> Option<Self::Value> {
        let py = self.py;
        let made = match element {
            Base::Byte | Base::Char | Base::U8 => return Some(PyBytes::new(py, bytes).into_any()),
            Base::I16 => PyList::new(py, split(bytes).map(i16::from_le_bytes)),
            Base::U16 => PyList::new(py, split(bytes).map(u16::from_le_bytes)),
            Base::I32 => PyList::new(py, split(bytes).map(i32::from_le_bytes)),
            Base::U32 => PyList::new(py, split(bytes).map(u32::from_le_bytes)),
            Base::I64 => PyList::new(py, split(bytes).map(i64::from_le_bytes)),
            Base::U64 => PyList::new(py, split(bytes).map(u64::from_le_bytes)),
            Base::F32 => PyList::new(py, split(bytes).map(f32::from_le_bytes)),
            Base::F64 => PyList::new(py, split(bytes).map(f64::from_le_bytes)),
            _ => return None,
        };
        self.keep(made.map(Bound::into_any))
    }

    fn structure(&mut self, id: StructId, label: Option<usize>) -> Option<Self::Structure> {
        let new = |class: &Bound<'py, PyAny>| class.call_method1("__new__", (class,));
        let made = self.interface.structure(self.py, id).and_then(new);
        let made = self.keep(made)?;
        if let Some(label) = label {
            self.labelled.insert(label, made.clone());
        }
        Some(made)
    }

    fn member(&mut self, structure: &mut Self::Structure, name: &str, value: Self::Value) -> Option<()> {
        let set = structure.setattr(name, value);
        self.keep(set)
    }

    fn finish(&mut self, structure: Self::Structure) -> Option<Self::Value> {
        Some(structure)
    }

    fn again(&mut self, label: usize) -> Option<Self::Value> {
        self.labelled.get(&label).cloned()
    }

    fn too_deep(&mut self) -> Option<Self::Value> {
        self.keep(Err(PyValueError::new_err("the value is nested too deeply")))
    }

    fn union(&mut self, id: UnionId, tag: i64, _: bool, arm: Option<(&str, Self::Value)>) -> Option<Self::Value> {
        static UNION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let case = match self.interface.union_tag(id) {
            Type::Enum(tag_type) => self.enumeration(*tag_type, i32::try_from(tag).ok()?)?,
            _ => self.value(tag)?,
        };
        let (name, value) = arm.map_or((None, None), |(name, value)| (Some(name), Some(value)));
        let made = UNION
            .get_or_try_init(self.py, || Ok(self.py.import("obvia._types")?.getattr("Union")?.unbind()))
            .and_then(|class| class.bind(self.py).call1((name, value, case)));
        self.keep(made)
    }

    fn object(&mut self, reference: &[u8]) -> Option<Self::Value> {
        let made = (self.adopt)(reference);
        self.keep(made)
    }
}
