//! The descriptions of interfaces, from servers and from files.

use crate::outcome::exception;
use crate::unchecked;
use obvia::dynamic::{self, Described, Identity, guid};
use obvia::{Error, GUID, InterfaceInfo, code};
use obvia_idl::frames::{Frames, Layout};
use obvia_idl::model::{EnumId, InterfaceId, Model, StructId, Type, UnionId};
use obvia_idl::{Compiler, canonical, description, ndr, typelib};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The IID of IUnknown, which every object has.
const IUNKNOWN: GUID = GUID::from_u128(0x0000_0000_0000_0000_c000_0000_0000_0046);

/// A described interface. There is one for an IID, for the lifetime of the process.
pub(crate) struct Interface {
    pub(crate) described: Described,
    pub(crate) info: &'static InterfaceInfo,
    /// The IDL text.
    pub(crate) text: String,
    pub(crate) methods: Vec<Method>,
    /// The IIDs of the interface and of those that it extends.
    pub(crate) lineage: Vec<GUID>,
    model: &'static Model,
    structs: Vec<PyOnceLock<Py<PyAny>>>,
    enums: Vec<PyOnceLock<Py<PyAny>>>,
}

/// A method of an interface.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) frames: Frames<'static>,
    /// The parameters with arguments, by their indices.
    pub(crate) arguments: Vec<usize>,
    /// The parameters with results, by their indices.
    pub(crate) results: Vec<usize>,
    tuple: PyOnceLock<Py<PyAny>>,
}

impl Method {
    /// Returns the name of a parameter.
    pub(crate) fn parameter(&self, index: usize) -> &str {
        &self.frames.plan().params[index].param.name
    }

    /// Returns the class of the method's results, a named tuple.
    pub(crate) fn tuple<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let make = || {
            let names = PyTuple::new(py, self.results.iter().map(|index| self.parameter(*index)))?;
            class(py, "results", (self.name, names))
        };
        Ok(self.tuple.get_or_try_init(py, make)?.bind(py))
    }
}

/// The known interfaces, by IID.
static KNOWN: Mutex<Option<HashMap<u128, &'static Interface>>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<HashMap<u128, &'static Interface>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls a function of the package's part that makes classes.
fn class<'py>(py: Python<'py>, function: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyResult<Py<PyAny>> {
    Ok(py.import("obvia._types")?.getattr(function)?.call1(arguments)?.unbind())
}

impl Interface {
    /// Returns the description of the interface of `name`: the one under which the object is
    /// exported, or another that the server knows.
    pub(crate) fn at(name: &str, interface: Option<&str>) -> obvia::Result<&'static Self> {
        let text = match interface {
            None => obvia::describe(name)?,
            Some(interface) => dynamic::describe(name, &iid_of(name, interface)?)?,
        };
        Self::of_text(name, text)
    }

    /// Returns the description of the interface with an IID, if this process has it.
    pub(crate) fn known(iid: &GUID) -> Option<&'static Self> {
        if *iid == IUNKNOWN {
            return Some(Self::unknown());
        }
        known().as_ref()?.get(&iid.to_u128()).copied()
    }

    /// Returns the description of the interface with an IID, which the server of `name` knows.
    pub(crate) fn with_iid(name: &str, iid: GUID) -> obvia::Result<&'static Self> {
        Self::known(&iid).map_or_else(|| Self::of_text(name, dynamic::describe(name, &iid)?), Ok)
    }

    fn of_text(name: &str, text: String) -> obvia::Result<&'static Self> {
        if let Some(found) = known().iter().flat_map(HashMap::values).find(|known| known.text == text) {
            return Ok(found);
        }
        // The query is made only if the text names interfaces that it does not declare.
        let others = OnceCell::new();
        let iid_of = |wanted: &str| {
            let others: &Vec<_> = others.get_or_init(|| dynamic::interfaces(name).unwrap_or_default());
            others.iter().find(|other: &&dynamic::Known| other.name == wanted).map(|known| known.iid.to_u128())
        };
        let invalid = |why: String| Error::new(code::RPC_E_INVALID_DATA, format!("the description of `{name}`: {why}"));
        let found = description::interface(name, &text, iid_of).map_err(|failure| invalid(failure.to_string()))?;
        let (model, id) = found.ok_or_else(|| invalid("it has no interface".to_owned()))?;
        Self::add(Box::leak(Box::new(model)), id, text)
    }

    /// Returns an interface of an IDL file or a type library: the one of this name, or the only one
    /// that the file itself declares.
    pub(crate) fn in_file(py: Python<'_>, file: &Path, interface: Option<&str>) -> PyResult<&'static Self> {
        let is_library = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tlb"));
        let checked = if is_library {
            let bytes = std::fs::read(file)?;
            let library = typelib::read(&bytes).map_err(|wrong| PyValueError::new_err(format!("{wrong:?}")))?;
            Compiler::new().check_text(file, &typelib::idl(&library))
        } else if file.exists() {
            Compiler::new().check(file)
        } else {
            return Err(PyOSError::new_err((2, "no such file", file.display().to_string())));
        };
        let compilation = checked.map_err(|failure| PyValueError::new_err(failure.to_string()))?;
        let model: &'static Model = Box::leak(Box::new(compilation.model));
        let own = || model.interfaces.iter().enumerate().filter(|(_, found)| !found.imported);
        let mut selected = None;
        for (at, found) in own() {
            let id = InterfaceId(at);
            let text = canonical::text(model, id);
            let added = Self::add(model, id, text).map_err(|error| exception(py, &error))?;
            if interface.is_none_or(|wanted| wanted == found.name) {
                if selected.is_some() {
                    let names: Vec<&str> = own().map(|(_, found)| found.name.as_str()).collect();
                    let text = format!("{} has the interfaces {}: select one", file.display(), names.join(", "));
                    return Err(PyValueError::new_err(text));
                }
                selected = Some(added);
            }
        }
        let missing = || PyValueError::new_err(format!("{} has no such interface", file.display()));
        selected.ok_or_else(missing)
    }

    /// Adds an interface and those that it extends to the known ones.
    fn add(model: &'static Model, id: InterfaceId, text: String) -> obvia::Result<&'static Self> {
        for base in model.lineage(id).into_iter().filter(|base| *base != id) {
            Self::add_alone(model, base, canonical::text(model, base))?;
        }
        Self::add_alone(model, id, text)
    }

    fn add_alone(model: &'static Model, id: InterfaceId, text: String) -> obvia::Result<&'static Self> {
        let found = &model.interfaces[id.0];
        let identity = Identity { iid: GUID::from_u128(found.uuid), fingerprint: canonical::fingerprint(model, id) };
        let mut known = known();
        let known = known.get_or_insert_default();
        if let Some(earlier) = known.get(&found.uuid) {
            if earlier.described.identity == identity {
                return Ok(earlier);
            }
            let text = format!("this process has used another interface with the IID of {}", found.name);
            return Err(Error::new(code::RPC_E_VERSION_MISMATCH, text));
        }
        let described = Described {
            identity,
            name: found.name.clone(),
            version: found.version,
            plain: found.plain,
            endpoints: found.endpoints.clone(),
            ndr: ndr::words(model, id),
            idl: text.clone(),
        };
        let methods = model.all_methods(id);
        let layout = Layout::new(model, &methods);
        let methods = methods.into_iter().map(|method| Method::of(&layout, method)).collect();
        let lineage = model.lineage(id).into_iter().map(|id| GUID::from_u128(model.interfaces[id.0].uuid));
        let made = Self::of(described, text, methods, lineage.collect(), model);
        known.insert(found.uuid, made);
        Ok(made)
    }

    fn of(
        described: Described,
        text: String,
        methods: Vec<Method>,
        lineage: Vec<GUID>,
        model: &'static Model,
    ) -> &'static Self {
        let info = unchecked::describe(&described);
        let structs = model.structs.iter().map(|_| PyOnceLock::new()).collect();
        let enums = model.enums.iter().map(|_| PyOnceLock::new()).collect();
        Box::leak(Box::new(Self { described, info, text, methods, lineage, model, structs, enums }))
    }

    /// Returns the description of IUnknown, which has no methods for other processes.
    fn unknown() -> &'static Self {
        let mut known = known();
        known.get_or_insert_default().entry(IUNKNOWN.to_u128()).or_insert_with(|| {
            let described = Described {
                identity: Identity { iid: IUNKNOWN, fingerprint: 0 },
                name: "IUnknown".to_owned(),
                version: (0, 0),
                plain: false,
                endpoints: Vec::new(),
                ndr: Vec::new(),
                idl: String::new(),
            };
            Self::of(described, String::new(), Vec::new(), Vec::new(), Box::leak(Box::default()))
        })
    }

    /// Returns the index of a method, by its name in IDL or in Python.
    pub(crate) fn method(&self, name: &str) -> Option<usize> {
        let named = |wanted: &dyn Fn(&Method) -> bool| self.methods.iter().position(wanted);
        named(&|method| method.name == name).or_else(|| named(&|method| python_name(method.name) == name))
    }

    /// Returns the class of a structure.
    pub(crate) fn structure<'py>(&self, py: Python<'py>, id: StructId) -> PyResult<&Bound<'py, PyAny>> {
        let make = || {
            let found = &self.model.structs[id.0];
            let members = PyTuple::new(py, found.fields.iter().map(|field| field.name.as_str()))?;
            class(py, "structure", (found.name.as_str(), members))
        };
        Ok(self.structs[id.0].get_or_try_init(py, make)?.bind(py))
    }

    /// Returns the class of an enumeration.
    pub(crate) fn enumeration<'py>(&self, py: Python<'py>, id: EnumId) -> PyResult<&Bound<'py, PyAny>> {
        let make = || {
            let found = &self.model.enums[id.0];
            let values = PyTuple::new(py, found.values.iter().map(|(name, value)| (name.as_str(), *value)))?;
            class(py, "enumeration", (found.name.as_str(), values))
        };
        Ok(self.enums[id.0].get_or_try_init(py, make)?.bind(py))
    }

    /// Returns the type of a union's discriminant.
    pub(crate) fn union_tag(&self, id: UnionId) -> &'static Type {
        &self.model.unions[id.0].tag
    }

    /// Returns the classes of all structures and enumerations that the description declares.
    pub(crate) fn classes<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
        let built_in = &self.model.bundled;
        let mut classes = Vec::new();
        for (at, found) in self.model.structs.iter().enumerate().skip(built_in.structs) {
            classes.push((found.name.as_str(), self.structure(py, StructId(at))?.clone()));
        }
        for (at, found) in self.model.enums.iter().enumerate().skip(built_in.enums) {
            classes.push((found.name.as_str(), self.enumeration(py, EnumId(at))?.clone()));
        }
        Ok(classes)
    }
}

impl Method {
    fn of(layout: &Arc<Layout<'static>>, method: &'static obvia_idl::model::Method) -> Self {
        let frames = Frames::new(Arc::clone(layout), method);
        let (arguments, results) = (frames.arguments(), frames.results());
        Self { name: &method.name, frames, arguments, results, tuple: PyOnceLock::new() }
    }
}

/// Returns the IID of an interface that the server of `name` knows, by its name or IID.
pub(crate) fn iid_of(name: &str, interface: &str) -> obvia::Result<GUID> {
    if let Some(iid) = guid::parse(interface) {
        return Ok(iid);
    }
    let known = dynamic::interfaces(name)?;
    let found = known.iter().find(|known| known.name == interface);
    found.map(|known| known.iid).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let text = format!("the server of `{name}` knows no interface `{interface}`; it knows {}", names.join(", "));
        Error::new(code::E_NOINTERFACE, text)
    })
}

/// Returns a method's name in Python: `snake_case`, with an underscore behind a keyword.
pub(crate) fn python_name(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut made = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let follows_lower = at > 0 && !letters[at - 1].is_uppercase() && letters[at - 1] != '_';
        let precedes_lower = letters.get(at + 1).is_some_and(|next| next.is_lowercase());
        let is_first = at == 0 || letters[at - 1] == '_';
        if letter.is_uppercase() && !is_first && (follows_lower || precedes_lower) {
            made.push('_');
        }
        made.extend(letter.to_lowercase());
    }
    if KEYWORDS.contains(&made.as_str()) { made + "_" } else { made }
}

/// Python's keywords in lower case.
const KEYWORDS: [&str; 32] = [
    "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else", "except",
    "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise",
    "return", "try", "while", "with", "yield",
];
