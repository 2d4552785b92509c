//! The descriptions of interfaces, from servers and from files.

use crate::budget::{PART_BYTES, give_back, reserve};
use crate::outcome::exception;
use crate::unchecked;
use obvia::dynamic::{self, Described, Identity};
use obvia::{Error, GUID, InterfaceInfo, code};
use obvia_idl::emit::python::{python_name, value_name, without_keyword};
use obvia_idl::frames::{Frames, Layout};
use obvia_idl::model::{EnumId, InterfaceId, Model, StructId, Type, UnionId};
use obvia_idl::{Compilation, Compiler, Diagnostic, Failure, canonical, description, ndr, plan, typelib};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// The IID of IUnknown, which every object has.
pub(crate) const IUNKNOWN: GUID = GUID::from_u128(0x0000_0000_0000_0000_c000_0000_0000_0046);

/// The source of an interface's description.
#[derive(Clone, Copy)]
enum Source<'s> {
    /// The server with this name or string binding, which describes one interface.
    Server(&'s str),
    /// A file that the user selects, with all declarations that the interface needs.
    File,
}

impl<'s> Source<'s> {
    /// Returns the server from whose budget the description takes its place. `None` for a file.
    const fn server(self) -> Option<&'s str> {
        match self {
            Self::Server(name) => Some(name),
            Self::File => None,
        }
    }

    /// Whether the description declares the interfaces that methods name.
    const fn is_whole(self) -> bool {
        matches!(self, Self::File)
    }
}

/// A described interface, which lives as long as the process.
pub(crate) struct Interface {
    pub(crate) described: Described,
    pub(crate) info: &'static InterfaceInfo,
    pub(crate) methods: Vec<Method>,
    /// The interfaces that this one extends, without IUnknown.
    bases: Vec<&'static Interface>,
    model: &'static Model,
    /// Whether the model declares the interfaces that methods name.
    is_whole: bool,
    structs: Vec<PyOnceLock<Py<PyAny>>>,
    enums: Vec<PyOnceLock<Py<PyAny>>>,
}

/// A method of an interface.
pub(crate) struct Method {
    pub(crate) name: &'static str,
    pub(crate) frames: Frames<'static>,
    /// The indices of the parameters that take arguments.
    pub(crate) arguments: Vec<usize>,
    /// The indices of the parameters that return results.
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

/// The properties that distinguish interfaces. The IIDs of all named interfaces belong to the key,
/// because an interface's text does not contain these IIDs, and a server chooses them.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    /// The IID and the fingerprint.
    identity: (u128, u128),
    /// The IIDs of all interfaces of the model.
    named: Vec<u128>,
    is_whole: bool,
}

impl Key {
    fn of(model: &Model, id: InterfaceId, is_whole: bool) -> Self {
        let identity = (model.interfaces[id.0].uuid, canonical::fingerprint(model, id));
        Self { identity, named: model.interfaces.iter().map(|found| found.uuid).collect(), is_whole }
    }
}

/// The greatest size of the text in which a server describes an interface, in bytes.
const TEXT_MAX: usize = 1 << 20;

/// Locks and returns the map of the kept interfaces.
fn known() -> MutexGuard<'static, HashMap<Key, &'static Interface>> {
    static KNOWN: LazyLock<Mutex<HashMap<Key, &'static Interface>>> = LazyLock::new(Mutex::default);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps an interface, unless another thread has already kept one with the same key. Returns the
/// kept interface.
fn keep(key: Key, made: Interface) -> &'static Interface {
    known().entry(key).or_insert_with(|| Box::leak(Box::new(made)))
}

/// Reserves the place of an interface of a model, and describes the interface to the runtime. If
/// the runtime refuses the interface, gives the place back. `parts` is the number of methods, and
/// of types that are kept for this interface.
fn permit(
    model: &Model,
    id: InterfaceId,
    source: Source<'_>,
    parts: usize,
) -> obvia::Result<(Described, &'static InterfaceInfo)> {
    if let Some(refused) = refusals(model, id).first() {
        return Err(Error::new(code::E_NOTIMPL, refused.message.clone()));
    }
    let server = source.server();
    let described = described(model, id);
    let bytes = described.idl.len() + PART_BYTES * parts;
    reserve(server, bytes)?;
    let info = unchecked::describe(&described).inspect_err(|_| give_back(server, bytes))?;
    Ok((described, info))
}

/// Returns errors for the parts of an interface that the package for Python does not support.
fn refusals(model: &Model, id: InterfaceId) -> Vec<Diagnostic> {
    plan::refusals(model, id, "the package for Python")
}

/// Returns the description of an interface of a model for the runtime.
fn described(model: &Model, id: InterfaceId) -> Described {
    let found = &model.interfaces[id.0];
    Described {
        identity: Identity { iid: GUID::from_u128(found.uuid), fingerprint: canonical::fingerprint(model, id) },
        name: found.name.clone(),
        version: found.version,
        plain: found.plain,
        endpoints: found.endpoints.clone(),
        ndr: ndr::words(model, id),
        idl: canonical::text(model, id),
    }
}

/// Returns the interface of this name that a file itself declares, or, without a name, the only
/// interface.
fn declared(model: &Model, interface: Option<&str>) -> Result<InterfaceId, String> {
    let is_wanted = |found: &obvia_idl::model::Interface| interface.is_none_or(|wanted| wanted == found.name);
    let own = model.interfaces.iter().enumerate().filter(|(_, found)| !found.imported && is_wanted(found));
    let own: Vec<(usize, &str)> = own.map(|(at, found)| (at, found.name.as_str())).collect();
    match own[..] {
        [(at, _)] => Ok(InterfaceId(at)),
        [] => Err("has no such interface".to_owned()),
        _ => {
            let names: Vec<&str> = own.iter().map(|(_, name)| *name).collect();
            Err(format!("has the interfaces {}: select one", names.join(", ")))
        }
    }
}

/// Calls a function of `obvia._types`, which makes a class.
fn class<'py>(py: Python<'py>, function: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyResult<Py<PyAny>> {
    Ok(py.import("obvia._types")?.getattr(function)?.call1(arguments)?.unbind())
}

impl Interface {
    /// Returns the interface that a server's text describes.
    pub(crate) fn of_text(name: &str, text: String) -> obvia::Result<&'static Self> {
        // The query is made only if the text names interfaces that it does not declare.
        let others = OnceCell::new();
        let iid_of = |wanted: &str| {
            let others: &HashMap<String, GUID> = others.get_or_init(|| {
                let known = dynamic::interfaces(name).unwrap_or_default();
                known.into_iter().map(|known| (known.name, known.iid)).collect()
            });
            others.get(wanted).map(GUID::to_u128)
        };
        let invalid = |why: String| Error::new(code::RPC_E_INVALID_DATA, format!("the description of `{name}`: {why}"));
        if text.len() > TEXT_MAX {
            return Err(invalid(format!("the text is longer than {TEXT_MAX} bytes")));
        }
        let found = description::interface(name, &text, iid_of).map_err(|failure| invalid(failure.to_string()))?;
        let found = found.ok_or_else(|| invalid("the text is not the canonical text of an interface".to_owned()));
        let (model, id) = found?;
        Self::of_model(model, id, Source::Server(name))
    }

    /// Returns an interface of an IDL file or a type library: the interface of this name, or,
    /// without a name, the only interface that the file itself declares.
    pub(crate) fn in_file(py: Python<'_>, file: &Path, interface: Option<&str>) -> PyResult<&'static Self> {
        let is_library = file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tlb"));
        let checked = if is_library {
            let bytes = std::fs::read(file)?;
            let library = typelib::read(&bytes).map_err(|wrong| PyValueError::new_err(format!("{wrong:?}")))?;
            Compiler::new().closed().check_text(file, &typelib::idl(&library))
        } else if file.exists() {
            Compiler::new().check(file)
        } else {
            return Err(PyOSError::new_err((2, "no such file", file.display().to_string())));
        };
        let invalid = |failure: Failure| PyValueError::new_err(failure.to_string());
        let Compilation { model, sources, .. } = checked.map_err(invalid)?;
        let id = declared(&model, interface);
        let id = id.map_err(|wrong| PyValueError::new_err(format!("{} {wrong}", file.display())))?;
        let refused = refusals(&model, id);
        if !refused.is_empty() {
            return Err(invalid(Failure::new(refused, sources)));
        }
        Self::of_model(model, id, Source::File).map_err(|error| exception(py, &error))
    }

    /// Returns an interface of a model, which comes from a server's text or from a file. The model
    /// is kept only if the interface has not been kept before.
    fn of_model(model: Model, id: InterfaceId, source: Source<'_>) -> obvia::Result<&'static Self> {
        let key = Key::of(&model, id, source.is_whole());
        let earlier = known().get(&key).copied();
        if let Some(earlier) = earlier {
            return Ok(earlier);
        }
        // All types are kept. Those of a file do not count, because the user selects the file.
        let types = model.structs.len() + model.unions.len() + model.enums.len() + model.interfaces.len();
        let parts = model.all_methods(id).len() + if source.is_whole() { 0 } else { types };
        let permitted = permit(&model, id, source, parts)?;
        // The model has the types of all interfaces that the text names.
        Ok(Self::make(key, Box::leak(Box::new(model)), id, permitted, source))
    }

    fn of_kept(model: &'static Model, id: InterfaceId, source: Source<'_>) -> obvia::Result<&'static Self> {
        let key = Key::of(model, id, source.is_whole());
        let earlier = known().get(&key).copied();
        if let Some(earlier) = earlier {
            return Ok(earlier);
        }
        let permitted = permit(model, id, source, model.all_methods(id).len())?;
        Ok(Self::make(key, model, id, permitted, source))
    }

    /// Makes an interface whose place has been reserved, and keeps the interface.
    fn make(
        key: Key,
        model: &'static Model,
        id: InterfaceId,
        (described, info): (Described, &'static InterfaceInfo),
        source: Source<'_>,
    ) -> &'static Self {
        let extended = model.declared_lineage(id).into_iter().filter(|base| *base != id);
        // The runtime's own interfaces are left out, because the runtime refuses descriptions of
        // them.
        let bases = extended.filter_map(|base| Self::of_kept(model, base, source).ok()).collect();
        let layout = Layout::new(model, &model.all_methods(id));
        let methods = model.remote_methods(id).into_iter().map(|method| Method::of(&layout, method)).collect();
        let structs = model.structs.iter().map(|_| PyOnceLock::new()).collect();
        let enums = model.enums.iter().map(|_| PyOnceLock::new()).collect();
        keep(key, Self { described, info, methods, bases, model, is_whole: source.is_whole(), structs, enums })
    }

    /// Returns IUnknown, which has no methods for other processes.
    pub(crate) fn unknown() -> obvia::Result<&'static Self> {
        let key = Key { identity: (IUNKNOWN.to_u128(), 0), named: Vec::new(), is_whole: true };
        let earlier = known().get(&key).copied();
        if let Some(earlier) = earlier {
            return Ok(earlier);
        }
        let described = Described {
            identity: Identity { iid: IUNKNOWN, fingerprint: 0 },
            name: "IUnknown".to_owned(),
            version: (0, 0),
            plain: false,
            endpoints: Vec::new(),
            ndr: Vec::new(),
            idl: String::new(),
        };
        let info = unchecked::describe(&described)?;
        let (methods, bases, structs, enums) = Default::default();
        let model = Box::leak(Box::default());
        Ok(keep(key, Self { described, info, methods, bases, model, is_whole: true, structs, enums }))
    }

    /// Returns the interface that the methods name by an IID, if the description declares the
    /// methods of that interface.
    pub(crate) fn named(&self, iid: GUID) -> obvia::Result<Option<&'static Self>> {
        if iid == IUNKNOWN {
            return Self::unknown().map(Some);
        }
        let is_it = |found: &obvia_idl::model::Interface| found.uuid == iid.to_u128();
        let found = self.model.interfaces.iter().position(is_it).filter(|_| self.is_whole);
        found.map(|at| Self::of_kept(self.model, InterfaceId(at), Source::File)).transpose()
    }

    /// Returns this interface of a file, and all interfaces that clients of its objects need.
    pub(crate) fn closure(&self) -> Vec<&'static Self> {
        let is_it = |found: &obvia_idl::model::Interface| found.uuid == self.described.identity.iid.to_u128();
        let own = self.model.interfaces.iter().position(is_it).map(InterfaceId);
        let all = own.map(|own| self.model.interfaces_from(own)).unwrap_or_default();
        // Interfaces of the runtime itself are left out.
        all.into_iter().filter_map(|id| Self::of_kept(self.model, id, Source::File).ok()).collect()
    }

    /// Whether this is IUnknown.
    pub(crate) fn is_unknown(&self) -> bool {
        self.described.identity.iid == IUNKNOWN
    }

    /// Whether this and `other` are descriptions of the same interface.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.described.identity == other.described.identity
    }

    /// Returns the interface with an IID, if it is this interface or one that this interface
    /// extends.
    pub(crate) fn with_iid(&'static self, iid: &GUID) -> Option<&'static Self> {
        std::iter::once(self).chain(self.bases.iter().copied()).find(|found| found.described.identity.iid == *iid)
    }

    /// Whether this interface is `other`, or extends `other`.
    pub(crate) fn extends(&'static self, other: &Self) -> bool {
        self.with_iid(&other.described.identity.iid).is_some_and(|found| found.is_same(other))
    }

    /// Returns the index of the method with a name in IDL or in Python, if there is one.
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
            let values = PyTuple::new(py, found.values.iter().map(|(name, value)| (value_name(name), *value)))?;
            class(py, "enumeration", (found.name.as_str(), values))
        };
        Ok(self.enums[id.0].get_or_try_init(py, make)?.bind(py))
    }

    /// Returns the type of a union's discriminant.
    pub(crate) fn union_tag(&self, id: UnionId) -> &'static Type {
        &self.model.unions[id.0].tag
    }

    /// Returns the classes of all structures and enumerations that the description declares.
    pub(crate) fn classes<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let built_in = &self.model.bundled;
        let mut classes = Vec::new();
        for (at, found) in self.model.structs.iter().enumerate().skip(built_in.structs) {
            classes.push((without_keyword(&found.name), self.structure(py, StructId(at))?.clone()));
        }
        for (at, found) in self.model.enums.iter().enumerate().skip(built_in.enums) {
            classes.push((without_keyword(&found.name), self.enumeration(py, EnumId(at))?.clone()));
        }
        Ok(classes)
    }
}

impl Method {
    fn of(layout: &Arc<Layout<'static>>, method: &'static obvia_idl::model::Method) -> Self {
        let frames = Frames::new(Arc::clone(layout), method);
        let (arguments, results) = (frames.plan().arguments(), frames.plan().results());
        Self { name: &method.name, frames, arguments, results, tuple: PyOnceLock::new() }
    }
}
