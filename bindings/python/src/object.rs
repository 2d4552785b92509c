//! The methods of objects, and the functions that connect to objects.

use crate::argument::{Argument, Failure};
use crate::callee::{Callee, credentials};
use crate::fork;
use crate::interface::{Interface, Method as Described};
use crate::outcome::{caught, detached, exception};
use crate::outgoing::Outgoing;
use crate::reference::{Object, State, limited};
use crate::result::Results;
use crate::served::shown;
use crate::server::Server;
use obvia::dynamic::{self, guid, pointer};
use obvia::{Error, code};
use obvia_idl::emit::python::{python_name, without_keyword};
use obvia_idl::frames::Wrong;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

#[pymethods]
impl Object {
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let state = &slf.get().state;
        let Some(index) = state.interface.method(name) else {
            let names: Vec<&str> = state.interface.methods.iter().map(|method| method.name).collect();
            let meant = obvia_idl::most_like(name, names.iter().copied()).map(python_name);
            let meant = meant.map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"));
            let text = format!("{} has no method `{name}`{meant}", state.interface.described.name);
            return Err(PyAttributeError::new_err(text));
        };
        let method = Bound::new(slf.py(), Method { state: Arc::clone(state), index })?.into_any();
        slf.setattr(name, &method)?;
        Ok(method)
    }

    fn __dir__(&self) -> Vec<String> {
        self.state.interface.methods.iter().map(|method| python_name(method.name)).collect()
    }

    fn __repr__(&self) -> String {
        format!("<{} of {}>", self.state.interface.described.name, self.state.server.shown())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        release(py, &self.state);
    }
}

/// Makes an object from a reference in the results of a call. `state` is the state of the called
/// object, and `callee` is the target of the call, because the called object may have been closed
/// since.
fn adopt<'py>(state: &State, callee: &Callee, py: Python<'py>, reference: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let (interface, found) = detached(py, || {
        let interface = pointer::iid_of(reference).and_then(|iid| state.server.named_by(state.interface, iid));
        let interface = interface.inspect_err(|_| give_back(callee, &[reference]))?;
        let object = pointer::object(callee.pointer()?, reference, interface.info)?;
        Ok((interface, Callee::of(&object)?))
    })?;
    shown(py, Object::new(interface, found, Arc::clone(&state.server), state.timeout))
}

/// Gives back the references for which no object is made.
fn give_back(callee: &Callee, references: &[&[u8]]) {
    for reference in references {
        // An error is ignored: the caller already reports why the object could not be made. If the
        // connection is gone, the server has released the references of the connection.
        let _ = callee.pointer().and_then(|through| pointer::refuse(through, reference));
    }
}

/// Releases a reference. The release may send a message.
fn release(py: Python<'_>, state: &State) {
    py.detach(|| {
        let callee = state.callee.write().unwrap_or_else(PoisonError::into_inner).take();
        fork::end(callee);
    });
}

// A method of an object. Documentation of the class would hide the documentation of the method, so
// the class has none.
#[pyclass(frozen, module = "obvia")]
pub(crate) struct Method {
    state: Arc<State>,
    index: usize,
}

impl Method {
    fn described(&self) -> &'static Described {
        &self.state.interface.methods[self.index]
    }

    /// Returns the arguments, in the places of their parameters.
    fn places<'py>(
        &self,
        given: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
        failure: &Failure,
    ) -> PyResult<Vec<Option<Argument<'py>>>> {
        let method = self.described();
        let wrong = |what: String| PyTypeError::new_err(format!("{what}: {}", self.__doc__()));
        let count = method.arguments.len();
        if given.len() > count {
            return Err(wrong(format!("{} takes {count} arguments, {} given", method.name, given.len())));
        }
        let mut places = vec![None; method.frames.plan().params.len()];
        for (at, value) in method.arguments.iter().zip(given.iter()) {
            places[*at] = Some(Argument::new(value, failure));
        }
        for (name, value) in named.into_iter().flatten() {
            let name = name.extract::<String>()?;
            let is_it = |own: &str| own == name || without_keyword(own) == name;
            let known = method.arguments.iter().find(|at| is_it(method.parameter(**at)));
            let place = known.map(|at| &mut places[*at]);
            let place = place.ok_or_else(|| wrong(format!("{} has no parameter `{name}`", method.name)))?;
            if place.replace(Argument::new(value, failure)).is_some() {
                return Err(wrong(format!("{} has two arguments `{name}`", method.name)));
            }
        }
        if let Some(missing) = method.arguments.iter().find(|at| places[**at].is_none()) {
            return Err(wrong(format!("{} lacks the argument `{}`", method.name, method.parameter(*missing))));
        }
        Ok(places)
    }

    /// Makes the method's result from the frame of its reply.
    fn results<'py>(
        &self,
        py: Python<'py>,
        callee: &Callee,
        (request, reply): (&[u8], &[u8]),
    ) -> PyResult<Bound<'py, PyAny>> {
        let method = self.described();
        let outer = |index: usize| method.frames.number(request, index);
        let adopt = |reference: &[u8]| adopt(&self.state, callee, py, reference);
        let mut make = Results::new(py, self.state.interface, &adopt);
        let invalid = |what: &dyn std::fmt::Display| {
            let text = format!("{}: the reply does not match the interface: {what}", method.name);
            exception(py, &Error::new(code::RPC_E_INVALID_DATA, text))
        };
        let mut values = Vec::with_capacity(method.results.len());
        if !method.results.is_empty() {
            let mut reading = method.frames.read(false, reply, &outer, &mut make).map_err(|flaw| invalid(&flaw))?;
            let differs = method.frames.one_sided_null(request, |index| method.frames.is_null(reply, index));
            if differs.is_none() {
                values.extend(method.results.iter().map_while(|index| reading.value(*index)));
            }
            let remaining: Vec<&[u8]> = reading.remaining().collect();
            if !remaining.is_empty() {
                py.detach(|| give_back(callee, &remaining));
            }
            if let Some(name) = differs {
                let text = format!("`{name}` must be null in the reply exactly if it is null in the request");
                return Err(invalid(&text));
            }
        }
        if values.len() < method.results.len() {
            return Err(make.failure().unwrap_or_else(|| invalid(&"a result cannot be read")));
        }
        match values.len() {
            0 => Ok(py.None().into_bound(py)),
            1 => Ok(values.remove(0)),
            _ => method.tuple(py)?.call1(PyTuple::new(py, values)?),
        }
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (state, method, failure) = (&self.state, self.described(), Failure::default());
        let places = self.places(given, named, &failure)?;
        let callee = state.callee().map_err(|error| exception(py, &error))?;
        let mut outgoing = Outgoing::new(&callee, state);
        let written = caught(|| Ok(method.frames.write(true, &places, &mut outgoing, &|_| None)));
        let invalid = |wrong: Wrong| PyValueError::new_err(format!("{}: {}", method.name, wrong.of_argument()));
        let written =
            written.and_then(|written| written.map_err(|wrong| failure.take().unwrap_or_else(|| invalid(wrong))));
        let request = match written {
            Ok(request) => request,
            Err(failure) => {
                outgoing.take_back();
                return Err(failure);
            }
        };
        let (opnum, references) = (method.frames.plan().method.opnum, &outgoing.references);
        if method.frames.plan().method.oneway {
            detached(py, || callee.call_oneway(opnum, &request, references))?;
            return Ok(py.None().into_bound(py));
        }
        let reply = detached(py, || {
            let (result, reply) = callee.call(opnum, &request, references)?;
            if result.is_err() { Err(result.into()) } else { Ok(reply) }
        })?;
        caught(|| self.results(py, &callee, (&request, &reply)))
    }
}

#[pymethods]
impl Method {
    #[pyo3(signature = (*given, **named))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyTuple>,
        named: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.state.limited(|| self.call(py, given, named))
    }

    #[getter]
    fn __name__(&self) -> String {
        python_name(self.described().name)
    }

    // Returns the method's parameters and results.
    #[getter]
    fn __doc__(&self) -> String {
        let method = self.described();
        let names = |indices: &[usize]| indices.iter().map(|at| method.parameter(*at)).collect::<Vec<_>>().join(", ");
        let results = if method.results.is_empty() { "None".to_owned() } else { names(&method.results) };
        format!("{}({}) -> {results}", python_name(method.name), names(&method.arguments))
    }

    fn __repr__(&self) -> String {
        format!("<method {} of {}>", self.described().name, self.state.server.shown())
    }
}

/// Converts a time limit in seconds.
fn limit(seconds: Option<f64>) -> PyResult<Option<Duration>> {
    let convert = |seconds| {
        let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
        limit.ok_or_else(|| PyValueError::new_err(format!("timeout={seconds} is no time limit: give seconds above 0")))
    };
    seconds.map(convert).transpose()
}

/// Connects to a name or a string binding.
#[pyfunction]
#[pyo3(signature = (name, interface = None, *, idl = None, timeout = None, user = None, password = None, domain = ""))]
#[expect(clippy::too_many_arguments, reason = "the options of Python's function")]
pub(crate) fn connect<'py>(
    py: Python<'py>,
    name: &str,
    interface: Option<&str>,
    idl: Option<PathBuf>,
    timeout: Option<f64>,
    user: Option<&str>,
    password: Option<&str>,
    domain: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let timeout = limit(timeout)?;
    let credentials = match (user, password) {
        (Some(user), Some(password)) => Some(credentials(domain, user, password)),
        (None, None) => None,
        _ => return Err(PyValueError::new_err("give both user= and password=, or neither")),
    };
    let server = Server::at(name, credentials);
    let in_file = idl.map(|file| Interface::in_file(py, &file, interface)).transpose()?;
    let open = || {
        let interface = in_file.map_or_else(|| server.interface(interface), Ok)?;
        Ok((interface, server.authenticated(|| Callee::connect(name, interface))?))
    };
    let (interface, callee) = detached(py, || limited(timeout, open))?;
    shown(py, Object::new(interface, callee, server, timeout))
}

/// Releases an object's COM reference while Python objects still refer to it.
#[pyfunction]
pub(crate) fn close(py: Python<'_>, object: &Bound<'_, Object>) {
    release(py, &object.get().state);
}

/// Returns another interface of an object, by its name or IID.
#[pyfunction]
pub(crate) fn query(py: Python<'_>, object: &Bound<'_, Object>, interface: &str) -> PyResult<Object> {
    let state = &object.get().state;
    let (interface, callee) = detached(py, || {
        state.limited(|| {
            let interface = state.server.interface(Some(interface))?;
            let other = pointer::query(state.callee()?.pointer()?, interface.info)?;
            Ok((interface, Callee::of(&other)?))
        })
    })?;
    Ok(Object::new(interface, callee, Arc::clone(&state.server), state.timeout))
}

/// Returns the same object with a time limit for each call, in seconds.
#[pyfunction]
pub(crate) fn with_timeout(object: &Bound<'_, Object>, seconds: f64) -> PyResult<Object> {
    let state = &object.get().state;
    let callee = RwLock::new(state.callee.read().unwrap_or_else(PoisonError::into_inner).clone());
    let (interface, server) = (state.interface, Arc::clone(&state.server));
    Ok(Object { state: Arc::new(State { interface, callee, server, timeout: limit(Some(seconds))? }) })
}

/// Returns the IDL text of an object's interface.
#[pyfunction]
pub(crate) fn describe(object: &Bound<'_, Object>) -> &'static str {
    &object.get().state.interface.described.idl
}

/// Returns the classes of an object's structures and enumerations, by their names.
#[pyfunction]
pub(crate) fn types<'py>(py: Python<'py>, object: &Bound<'py, Object>) -> PyResult<Bound<'py, PyDict>> {
    let classes = PyDict::new(py);
    for (name, class) in object.get().state.interface.classes(py)? {
        classes.set_item(name, class)?;
    }
    Ok(classes)
}

/// Returns the names that processes of this host export.
#[pyfunction]
pub(crate) fn names(py: Python<'_>) -> PyResult<Vec<String>> {
    Ok(detached(py, obvia::list)?.into_iter().map(|listed| listed.name).collect())
}

/// Returns the interfaces that the server at a name knows, with their IIDs.
#[pyfunction]
pub(crate) fn interfaces(py: Python<'_>, name: &str) -> PyResult<Vec<(String, String)>> {
    let known = detached(py, || dynamic::interfaces(name))?;
    Ok(known.into_iter().map(|known| (known.name, guid::to_text(&known.iid))).collect())
}
