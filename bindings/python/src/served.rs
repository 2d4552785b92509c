//! Objects of Python, which other processes call.

use crate::argument::Argument;
use crate::interface::{Interface, python_name};
use crate::outcome::{detached, error_of, exception};
use crate::reference::Object;
use crate::result::Results;
use crate::unchecked;
use obvia::abi::{self, Export, Performer, WeakObject, with_performer};
use obvia::dynamic::pointer;
use obvia::rt::Status;
use obvia::{Error, GUID, HRESULT, IUnknown, code};
use obvia_idl::frames::{References, Wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

/// An object of Python that other processes call, with the interfaces under which it was given.
struct Served {
    /// `None` while the value is dropped.
    object: Option<Py<PyAny>>,
    interfaces: Arc<Mutex<Vec<&'static Interface>>>,
}

/// The interface pointers of served objects, by the address of the object of Python, which the
/// pointer keeps alive.
static SERVED: Mutex<Option<HashMap<usize, Known>>> = Mutex::new(None);

/// A served object.
struct Known {
    pointer: WeakObject,
    interfaces: Arc<Mutex<Vec<&'static Interface>>>,
}

/// Returns the interface pointer of an object of Python, which gets the interface.
fn pointer_of(object: &Bound<'_, PyAny>, interface: &'static Interface) -> IUnknown {
    let mut served = SERVED.lock().unwrap_or_else(PoisonError::into_inner);
    let served = served.get_or_insert_default();
    let address = object.as_ptr() as usize;
    let known = served.get(&address).and_then(|known| Some((known.pointer.upgrade()?, Arc::clone(&known.interfaces))));
    let (found, interfaces) = known.unwrap_or_else(|| {
        let interfaces = Arc::new(Mutex::new(Vec::new()));
        let made = Served { object: Some(object.clone().unbind()), interfaces: Arc::clone(&interfaces) };
        let (pointer, weak) = unchecked::object(made);
        served.insert(address, Known { pointer: weak, interfaces: Arc::clone(&interfaces) });
        (pointer, interfaces)
    });
    let mut interfaces = interfaces.lock().unwrap_or_else(PoisonError::into_inner);
    if !interfaces.iter().any(|known| std::ptr::eq(*known, interface)) {
        interfaces.push(interface);
    }
    found
}

/// Returns the object of Python that an interface pointer stands for, if it is of this process.
fn object_of<'py>(py: Python<'py>, pointer: &IUnknown) -> Option<Bound<'py, PyAny>> {
    with_performer(pointer, |served: &Served| Some(served.object.as_ref()?.bind(py).clone()))?
}

/// Returns an object for Python: an object of this process is itself.
pub(crate) fn shown(py: Python<'_>, object: Object) -> PyResult<Bound<'_, PyAny>> {
    let own = object.callee().ok().and_then(|callee| object_of(py, callee.pointer().ok()?));
    own.map_or_else(|| Ok(Bound::new(py, object)?.into_any()), Ok)
}

/// Returns the first method of an interface that an object of Python lacks.
fn lacking(object: &Bound<'_, PyAny>, interface: &Interface) -> Option<String> {
    let has = |name: &str| object.hasattr(name).unwrap_or(false);
    let mut names = interface.methods.iter().map(|method| method.name);
    names.find(|name| !has(name) && !has(&python_name(name))).map(python_name)
}

impl Performer for Served {
    fn implements(&self, iid: &GUID) -> bool {
        let interfaces = self.interfaces.lock().unwrap_or_else(PoisonError::into_inner);
        interfaces.iter().any(|interface| interface.lineage.contains(iid))
    }

    fn perform(&self, iid: &GUID, opnum: u16, request: &[u8]) -> Result<(HRESULT, Vec<u8>), Status> {
        let interface = Interface::known(iid).ok_or(Status::OP_RNG_ERROR)?;
        let mut methods = interface.methods.iter();
        let method = methods.find(|method| method.frames.plan().opnum == opnum).ok_or(Status::OP_RNG_ERROR)?;
        // The interpreter may be ending.
        let object = self.object.as_ref().ok_or(Status::OP_RNG_ERROR)?;
        Python::try_attach(|py| call(py, object, interface, method, request)).ok_or(Status::OP_RNG_ERROR)?
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let mut served = SERVED.lock().unwrap_or_else(PoisonError::into_inner);
        let address = self.object.as_ref().map_or(0, |object| object.as_ptr() as usize);
        if let Some(served) = served.as_mut()
            && served.get(&address).is_some_and(|known| Arc::ptr_eq(&known.interfaces, &self.interfaces))
        {
            served.remove(&address);
        }
        drop(served);
        release(self.object.take());
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
        // Without the thread, the interpreter releases the objects when it next calls this library.
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
    let adopt = |reference: &[u8]| adopt(py, reference);
    let mut make = Results::new(py, interface, &adopt);
    let mut arguments = Vec::with_capacity(method.arguments.len());
    {
        let mut reading = method.frames.read(true, request, &|_| None, &mut make).map_err(|_| Status::BAD_STUB_DATA)?;
        arguments.extend(method.arguments.iter().map_while(|index| reading.value(*index)));
    }
    let performed = if arguments.len() < method.arguments.len() {
        Err(make.failure().unwrap_or_else(|| PyValueError::new_err("an argument cannot be read")))
    } else {
        perform(py, object.bind(py), method, arguments, request)
    };
    Ok(match performed {
        Ok(reply) => (code::S_OK, reply),
        Err(failure) => {
            let result = abi::fail(error_of(py, &failure));
            (result, abi::words_frame(result))
        }
    })
}

fn perform<'py>(
    py: Python<'py>,
    object: &Bound<'py, PyAny>,
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
    for (at, value) in method.results.iter().zip(given) {
        places[*at] = Some(Argument(value));
    }
    let outer = |index: usize| method.frames.number(request, index);
    method.frames.write(false, &places, &mut ForCaller, &outer).map_err(|failure| wrong(&failure))
}

/// The references in a reply.
struct ForCaller;

impl<'py> References<Argument<'py>> for ForCaller {
    fn reference(&mut self, object: &Argument<'py>, iid: u128) -> Result<Vec<u8>, Wrong> {
        let interface = Interface::known(&iid.into()).ok_or_else(|| Wrong::new("the interface is unknown"))?;
        let pointer = pointer_for(object, interface)?;
        let make = || pointer::reference_for_caller(pointer.get(), interface.info);
        object.0.py().detach(make).map_err(|error| Wrong::new(error.to_string()))
    }
}

/// Returns the interface pointer of an object of a server or of Python.
pub(crate) fn pointer_for(
    object: &Argument<'_>,
    interface: &'static Interface,
) -> Result<obvia::Agile<IUnknown>, Wrong> {
    let wrong = |error: Error| Wrong::new(error.to_string());
    if let Ok(given) = object.0.cast::<Object>() {
        let callee = given.get().callee().map_err(wrong)?;
        return obvia::Agile::new(callee.pointer().map_err(wrong)?).map_err(wrong);
    }
    if let Some(lacking) = lacking(&object.0, interface) {
        let text = format!("expected an object with {}, whose method `{lacking}` is missing", interface.described.name);
        return Err(Wrong::new(text));
    }
    obvia::Agile::new(&pointer_of(&object.0, interface)).map_err(wrong)
}

/// An exported name. The name disappears when this is closed.
#[pyclass(frozen, module = "obvia")]
pub(crate) struct Serving {
    export: Mutex<Option<Export>>,
    name: String,
}

#[pymethods]
impl Serving {
    /// Ends the export of the name. Clients that are connected keep the object.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.export.lock().unwrap_or_else(PoisonError::into_inner).take()));
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

/// Exports an object of Python by a name.
#[pyfunction]
#[pyo3(signature = (name, object, interface = None, *, idl))]
pub(crate) fn serve(
    py: Python<'_>,
    name: &str,
    object: &Bound<'_, PyAny>,
    interface: Option<&str>,
    idl: PathBuf,
) -> PyResult<Serving> {
    let interface = Interface::in_file(py, &idl, interface)?;
    let refused = |wrong: Wrong| PyValueError::new_err(wrong.to_string());
    let pointer = pointer_for(&Argument(object.clone()), interface).map_err(refused)?;
    let export = detached(py, || abi::export(name, pointer.get(), interface.info))?;
    Ok(Serving { export: Mutex::new(Some(export)), name: name.to_owned() })
}

/// Listens at a string binding, so that other hosts reach the exported objects. Returns the binding
/// at which they do.
#[pyfunction]
pub(crate) fn listen(py: Python<'_>, binding: &str) -> PyResult<String> {
    detached(py, || obvia::listen(binding))
}

/// Makes a value of a reference in the arguments of the call that this thread performs.
fn adopt<'py>(py: Python<'py>, reference: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let unknown = || Error::new(code::E_NOINTERFACE, "this process has no description of the argument's interface");
    let (interface, found) = detached(py, || {
        let interface = Interface::known(&pointer::iid_of(reference)?).ok_or_else(unknown)?;
        let found = pointer::object_of_caller(reference, interface.info)?;
        Ok((interface, obvia::Agile::new(&found)?))
    })?;
    shown(py, Object::of_caller(interface, found.get()).map_err(|error| exception(py, &error))?)
}
