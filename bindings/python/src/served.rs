//! Objects of Python, which other processes call.

use crate::argument::{Argument, Failure};
use crate::fork;
use crate::interface::Interface;
use crate::outcome::{caught, detached, exception, leave};
use crate::reference::Object;
use crate::result::Results;
use crate::unchecked;
use obvia::abi::{self, Export, ObjectTable, Performer, with_performer};
use obvia::dynamic::pointer;
use obvia::rt::Status;
use obvia::{Error, GUID, HRESULT, IUnknown, code};
use obvia_idl::emit::python::python_name;
use obvia_idl::frames::{Given, References, Wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

/// An object of Python that other processes call.
struct Served {
    /// The object; `None` only while this value is being dropped.
    object: Option<Py<PyAny>>,
    /// The interfaces of the object, to which `obvia.serve` may add.
    interfaces: Mutex<Vec<&'static Interface>>,
}

/// The served objects, by the address of the Python object. The interface pointer keeps the Python
/// object alive, so no other object can get the same address.
static SERVED: LazyLock<ObjectTable<usize>> = LazyLock::new(ObjectTable::default);

/// An interface whose methods the objects of a class have.
#[pyclass(frozen, module = "obvia")]
pub(crate) struct Declared(&'static Interface);

/// Returns an interface of a file, for objects of this process.
#[pyfunction]
#[pyo3(signature = (idl, interface = None))]
pub(crate) fn declare(py: Python<'_>, idl: PathBuf, interface: Option<&str>) -> PyResult<Declared> {
    let interface = Interface::in_file(py, &idl, interface)?;
    if let Some(method) = interface.methods.iter().find(|method| method.name.starts_with('_')) {
        let text = format!("{}: objects in Python serve no method `{}`", interface.described.name, method.name);
        return Err(PyValueError::new_err(text));
    }
    let all = interface.closure();
    if let Some(other) = rival(&all) {
        let text = format!("this process has declared another interface with the IID of {}", other.described.name);
        return Err(exception(py, &Error::new(code::RPC_E_VERSION_MISMATCH, text)));
    }
    // Clients ask for the descriptions of these interfaces.
    obvia::register(&all.iter().map(|found| found.info).collect::<Vec<_>>());
    Ok(Declared(interface))
}

/// Returns the first of the interfaces whose IID is that of a different interface, which was
/// declared earlier. If there is none, records the interfaces as declared. A process serves only
/// one interface for each IID, because clients ask for an interface by its IID.
fn rival(interfaces: &[&'static Interface]) -> Option<&'static Interface> {
    static DECLARED: Mutex<BTreeMap<u128, &'static Interface>> = Mutex::new(BTreeMap::new());
    let mut declared = DECLARED.lock().unwrap_or_else(PoisonError::into_inner);
    let iid = |interface: &Interface| interface.described.identity.iid.to_u128();
    let earlier = |interface: &Interface| declared.get(&iid(interface)).copied();
    let is_rival = |interface: &Interface| earlier(interface).is_some_and(|earlier| !earlier.is_same(interface));
    let rival = interfaces.iter().copied().find(|interface| is_rival(interface));
    if rival.is_none() {
        declared.extend(interfaces.iter().map(|interface| (iid(interface), *interface)));
    }
    rival
}

/// Returns the interfaces that an object's class declares by `obvia.implements`.
///
/// The server that receives an object chooses the methods that are looked up on the object, so a
/// class has to declare the interfaces of its objects.
fn declared(object: &Bound<'_, PyAny>) -> PyResult<Vec<&'static Interface>> {
    let mut interfaces = Vec::new();
    for class in object.get_type().getattr("__mro__")?.try_iter()? {
        let attributes = class?.getattr("__dict__")?;
        if !attributes.contains("__obvia_interfaces__")? {
            continue;
        }
        for item in attributes.get_item("__obvia_interfaces__")?.try_iter()? {
            let item = item?;
            interfaces.push(item.cast::<Declared>()?.get().0);
        }
    }
    Ok(interfaces)
}

/// Returns the interface pointer of an object of Python, and adds the interfaces `added` to the
/// object.
fn pointer_of(object: &Bound<'_, PyAny>, added: &[&'static Interface]) -> IUnknown {
    let make = || unchecked::object(Served { object: Some(object.clone().unbind()), interfaces: Mutex::default() });
    let found = SERVED.get(object.as_ptr() as usize, make);
    with_performer(&found, |served: &Served| served.add(added));
    found
}

/// Returns the object of Python to which an interface pointer leads, if the object belongs to this
/// process.
fn object_of<'py>(py: Python<'py>, pointer: &IUnknown) -> Option<Bound<'py, PyAny>> {
    with_performer(pointer, |served: &Served| Some(served.object.as_ref()?.bind(py).clone()))?
}

/// Returns an object for Python. For an object of this process, returns the object of Python
/// itself.
pub(crate) fn shown(py: Python<'_>, object: Object) -> PyResult<Bound<'_, PyAny>> {
    let own = object.callee().ok().and_then(|callee| object_of(py, callee.pointer().ok()?));
    own.map_or_else(|| Ok(Bound::new(py, object)?.into_any()), Ok)
}

/// Refuses an object of Python that lacks a method of an interface.
fn refuse_incomplete(object: &Bound<'_, PyAny>, interface: &Interface) -> Result<(), Wrong> {
    let has = |name: &str| object.hasattr(name).unwrap_or(false);
    let mut names = interface.methods.iter().map(|method| method.name);
    let lacking = names.find(|name| !has(name) && !has(&python_name(name))).map(python_name);
    lacking.map_or(Ok(()), |lacking| {
        let text = format!("expected an object with {}, whose method `{lacking}` is missing", interface.described.name);
        Err(Wrong::new(text))
    })
}

impl Performer for Served {
    fn implements(&self, iid: &GUID) -> bool {
        self.interface(iid).is_some()
    }

    fn perform(&self, iid: &GUID, opnum: u16, request: &[u8]) -> Result<(HRESULT, Cow<'_, [u8]>), Status> {
        let interface = self.interface(iid).ok_or(Status::OP_RNG_ERROR)?;
        let mut methods = interface.methods.iter();
        let method = methods.find(|method| method.frames.plan().opnum == opnum).ok_or(Status::OP_RNG_ERROR)?;
        let object = self.object.as_ref().ok_or(Status::OP_RNG_ERROR)?;
        // The attachment fails if the interpreter is ending.
        let (result, reply) =
            Python::try_attach(|py| call(py, object, interface, method, request)).ok_or(Status::OP_RNG_ERROR)??;
        Ok((result, reply.into()))
    }
}

impl Served {
    fn interfaces(&self) -> MutexGuard<'_, Vec<&'static Interface>> {
        self.interfaces.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn interface(&self, iid: &GUID) -> Option<&'static Interface> {
        self.interfaces().iter().find_map(|interface| interface.with_iid(iid))
    }

    fn add(&self, added: &[&'static Interface]) {
        let mut interfaces = self.interfaces();
        for interface in added {
            if !interfaces.iter().any(|known| known.is_same(interface)) {
                interfaces.push(interface);
            }
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let object = self.object.take();
        SERVED.forget(&object.as_ref().map_or(0, |object| object.as_ptr() as usize));
        release(object);
    }
}

/// Releases an object of Python, on a thread of its own: the thread that releases the last
/// reference of a peer must not wait for the interpreter's lock.
fn release(object: Option<Py<PyAny>>) {
    static RELEASING: OnceLock<Sender<Option<Py<PyAny>>>> = OnceLock::new();
    let begin = || {
        let (sender, receiver) = channel::<Option<Py<PyAny>>>();
        let work = move || {
            for object in receiver {
                // An interpreter that is ending releases nothing.
                let _ = Python::try_attach(|_| drop(object));
            }
        };
        // If the thread cannot be started, the interpreter releases the objects when it next calls
        // this library.
        drop(thread::Builder::new().name("obvia-python".to_owned()).spawn(work));
        sender
    };
    drop(RELEASING.get_or_init(begin).send(object));
}

/// Calls the method of an object of Python, and returns its HRESULT and the frame of its results.
fn call(
    py: Python<'_>,
    object: &Py<PyAny>,
    interface: &'static Interface,
    method: &crate::interface::Method,
    request: &[u8],
) -> Result<(HRESULT, Vec<u8>), Status> {
    let adopt = |reference: &[u8]| adopt(py, interface, reference);
    let mut make = Results::new(py, interface, &adopt);
    let arguments: Vec<_>;
    {
        let mut reading = method.frames.read(true, request, &|_| None, &mut make).map_err(|_| Status::BAD_STUB_DATA)?;
        let read = caught(|| Ok(method.arguments.iter().map_while(|index| reading.value(*index)).collect()));
        arguments = read.unwrap_or_default();
        let remaining: Vec<&[u8]> = reading.remaining().collect();
        if !remaining.is_empty() {
            py.detach(|| remaining.into_iter().for_each(refuse));
        }
    }
    let performed = if arguments.len() < method.arguments.len() {
        Err(make.failure().unwrap_or_else(|| PyValueError::new_err("an argument cannot be read")))
    } else {
        caught(|| perform(py, object.bind(py), interface, method, arguments, request))
    };
    Ok(match performed {
        Ok(reply) => (code::S_OK, reply),
        Err(failure) => {
            let result = leave(py, &failure);
            (result, abi::words_frame(result))
        }
    })
}

fn perform<'py>(
    py: Python<'py>,
    object: &Bound<'py, PyAny>,
    interface: &'static Interface,
    method: &crate::interface::Method,
    arguments: Vec<Bound<'py, PyAny>>,
    request: &[u8],
) -> PyResult<Vec<u8>> {
    let name = python_name(method.name);
    let function = object.getattr_opt(name.as_str())?.map_or_else(|| object.getattr(method.name), Ok)?;
    let result = function.call1(PyTuple::new(py, arguments)?)?;
    let wrong = |what: &dyn std::fmt::Display| PyValueError::new_err(format!("the result of {name}: {what}"));
    let given: Vec<Bound<'py, PyAny>> = match method.results.len() {
        0 => Vec::new(),
        1 => vec![result],
        count => {
            let given: Vec<_> = result.try_iter()?.collect::<PyResult<_>>()?;
            if given.len() != count {
                return Err(wrong(&format!("expected {count} values, found {}", given.len())));
            }
            given
        }
    };
    if method.results.is_empty() && method.frames.plan().reply_block == 0 {
        return Ok(Vec::new());
    }
    let mut places = vec![None; method.frames.plan().params.len()];
    let failure = Failure::default();
    for (at, value) in method.results.iter().zip(given) {
        places[*at] = Some(Argument::new(value, &failure));
    }
    let is_none = |index: usize| places[index].as_ref().is_none_or(Given::is_null);
    if let Some(name) = method.frames.one_sided_null(request, is_none) {
        return Err(wrong(&format_args!("{name} must be None exactly if the argument is")));
    }
    let outer = |index: usize| method.frames.number(request, index);
    let written = method.frames.write(false, &places, &mut ForCaller(interface), &outer);
    written.map_err(|what| failure.take().unwrap_or_else(|| wrong(&what)))
}

/// The references in the reply of a method of an interface.
struct ForCaller(&'static Interface);

impl<'py> References<Argument<'py>> for ForCaller {
    fn reference(&mut self, object: &Argument<'py>, iid: u128) -> Result<Vec<u8>, Wrong> {
        let wrong = |error: Error| unmarshalable(object, &error);
        let interface = named_by(self.0, iid.into()).map_err(wrong)?;
        let pointer = pointer_for(object, interface)?;
        let make = || pointer::reference_for_caller(pointer.get(), interface.info);
        object.value.py().detach(make).map_err(wrong)
    }
}

/// Returns the reason why no reference to an object can be made. An object without the interface is
/// a wrong value; other failures, such as failures of the connection, are raised unchanged.
pub(crate) fn unmarshalable(object: &Argument<'_>, error: &Error) -> Wrong {
    if error.code() == code::E_NOINTERFACE {
        return Wrong::new(error.to_string());
    }
    raised(object, exception(object.value.py(), error))
}

/// Keeps an exception, which is raised in place of the returned reason.
fn raised(object: &Argument<'_>, failure: PyErr) -> Wrong {
    let wrong = Wrong::new(failure.to_string());
    object.failure().keep(failure);
    wrong
}

/// Returns an interface pointer for an argument, which is an object of a server or of Python.
pub(crate) fn pointer_for(
    object: &Argument<'_>,
    interface: &'static Interface,
) -> Result<obvia::Agile<IUnknown>, Wrong> {
    let wrong = |error: Error| unmarshalable(object, &error);
    if let Ok(given) = object.value.cast::<Object>() {
        let state = &given.get().state;
        let callee = state.callee().map_err(wrong)?;
        let found = object.value.py().detach(|| {
            let pointer = callee.pointer()?;
            if interface.is_unknown() || state.interface.is_same(interface) {
                return obvia::Agile::new(pointer);
            }
            obvia::Agile::new(&pointer::query(pointer, interface.info)?)
        });
        return found.map_err(wrong);
    }
    let declared = declared(&object.value).map_err(|failure| raised(object, failure))?;
    let is_it = |own: &&'static Interface| interface.is_unknown() || own.extends(interface);
    if !declared.iter().any(is_it) {
        let name = &interface.described.name;
        let text = format!(
            "expected an object of a server, or of a class that has {name} by `obvia.implements`, found {}",
            object.shown()
        );
        return Err(Wrong::new(text));
    }
    for interface in &declared {
        refuse_incomplete(&object.value, interface)?;
    }
    obvia::Agile::new(&pointer_of(&object.value, &declared)).map_err(wrong)
}

/// An exported name. The name disappears when the value is closed.
#[pyclass(frozen, module = "obvia")]
pub(crate) struct Serving {
    export: Mutex<Option<Export>>,
    name: String,
}

#[pymethods]
impl Serving {
    /// Ends the export of the name. Clients that are connected keep the object.
    fn close(&self, py: Python<'_>) {
        py.detach(|| fork::end(self.export.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        format!("<serving {}>", self.name)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        fork::end(self.export.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Exports an object of Python by a name. The interface is declared by the object's class or in a
/// file.
#[pyfunction]
#[pyo3(signature = (name, object, interface = None, *, idl = None))]
pub(crate) fn serve(
    py: Python<'_>,
    name: &str,
    object: &Bound<'_, PyAny>,
    interface: Option<&str>,
    idl: Option<PathBuf>,
) -> PyResult<Serving> {
    let mut all = declared(object)?;
    let interface = match idl {
        Some(idl) => declare(py, idl, interface)?.0,
        None => {
            let mut own = all.iter().filter(|own| interface.is_none_or(|wanted| own.described.name == wanted));
            let (Some(found), None) = (own.next(), own.next()) else {
                let text = "select one of the interfaces of the object's class, or give an IDL file as idl=";
                return Err(PyValueError::new_err(text));
            };
            *found
        }
    };
    let failure = Failure::default();
    let refused = |wrong: Wrong| failure.take().unwrap_or_else(|| PyValueError::new_err(wrong.to_string()));
    let pointer = if object.is_instance_of::<Object>() {
        pointer_for(&Argument::new(object.clone(), &failure), interface).map_err(refused)?
    } else {
        all.push(interface);
        all.iter().try_for_each(|interface| refuse_incomplete(object, interface)).map_err(refused)?;
        obvia::Agile::new(&pointer_of(object, &all)).map_err(|error| exception(py, &error))?
    };
    let export = detached(py, || abi::export(name, pointer.get(), interface.info))?;
    Ok(Serving { export: Mutex::new(Some(export)), name: name.to_owned() })
}

/// Listens at a string binding, so that other hosts reach the exported objects. Returns the binding
/// with its actual endpoint.
#[pyfunction]
pub(crate) fn listen(py: Python<'_>, binding: &str) -> PyResult<String> {
    detached(py, || obvia::listen(binding))
}

/// Returns the interface that the methods of a served interface name by an IID.
fn named_by(interface: &Interface, iid: GUID) -> obvia::Result<&'static Interface> {
    let unknown = || Error::new(code::E_NOINTERFACE, "the IDL file of the served interface does not declare this one");
    interface.named(iid)?.ok_or_else(unknown)
}

/// Makes a value from a reference in the arguments of the call that this thread performs.
fn adopt<'py>(py: Python<'py>, named_in: &Interface, reference: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let (interface, found) = detached(py, || {
        let interface = pointer::iid_of(reference).and_then(|iid| named_by(named_in, iid));
        let interface = interface.inspect_err(|_| refuse(reference))?;
        let found = pointer::object_of_caller(reference, interface.info)?;
        Ok((interface, obvia::Agile::new(&found)?))
    })?;
    shown(py, Object::of_caller(interface, found.get()).map_err(|error| exception(py, &error))?)
}

/// Gives back a reference of the caller for which no object is made.
fn refuse(reference: &[u8]) {
    // An error is ignored: the caller already reports why the object could not be made.
    let _ = pointer::refuse_of_caller(reference);
}
