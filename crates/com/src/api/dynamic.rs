//! Calls without generated code: the caller makes the frames by the IDL text of an interface.
//!
//! The module is for tools that call arbitrary objects. [`interfaces`] and [`describe`] return the
//! interfaces of a server and their texts. `obvia_idl` compiles a text and plans the frames, and an
//! [`Object`] sends them. Frames are not trusted: the server checks requests as for any client, and
//! the caller must check replies. The module [`mod@pointer`] makes calls by frames through
//! interface pointers, and makes objects that other processes call by frames.

pub mod pointer;
pub(crate) mod served;

use crate::api::functions;
use crate::client::channels;
use crate::client::link::Link;
use crate::client::own_target;
use crate::client::proxy::{UNKNOWN_INFO, without_vtables};
use crate::marshal::proxy_call::Unsent;
use crate::protocol::objref::ObjRef;
use crate::protocol::own_calls;
use crate::protocol::own_calls::Forms;
use crate::services::process;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{Description, InterfaceInfo};
use obvia_ndr::reserved::owner_of;
use obvia_rpc::vi_call::{Channel, TargetId};
use obvia_via::{Deadline, Limit};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

pub use crate::types::guid;
use windows_core::{GUID, HRESULT, IUnknown, Interface};

/// The identity of an interface, which must be the same on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The interface's IID.
    pub iid: GUID,
    /// The fingerprint of the interface's IDL text.
    pub fingerprint: u128,
}

impl Identity {
    /// Returns the description that is needed to ask a server for the interface.
    fn info(self) -> InterfaceInfo {
        without_vtables(self.description())
    }

    fn description(self) -> Description {
        Description { name: "(unnamed)", iid: self.iid, fingerprint: self.fingerprint, ..*UNKNOWN_INFO }
    }
}

/// The greatest number of descriptions of interfaces without generated code, which are never freed.
const DESCRIBED_MAX: usize = 20_000;

/// An interface without generated code, with the data that is needed to call servers that are not
/// obvia processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The identity of the interface.
    pub identity: Identity,
    /// The interface's name.
    pub name: String,
    /// The interface's version, major and minor.
    pub version: (u16, u16),
    /// Whether the interface is plain, which means that it has functions of a server and no
    /// objects.
    pub plain: bool,
    /// The well-known endpoints: string bindings without hosts.
    pub endpoints: Vec<String>,
    /// The messages in NDR: the words of `obvia_idl::ndr::words`.
    pub ndr: Vec<i64>,
    /// The IDL text, which clients of this process's objects may ask for.
    pub idl: String,
}

impl Described {
    /// Returns the description for the runtime. Each distinct value has one description, which is
    /// never freed.
    ///
    /// # Errors
    ///
    /// E_INVALIDARG for a reserved IID other than IUnknown's, because the runtime calls such an
    /// interface through a vtable. E_OUTOFMEMORY after [`DESCRIBED_MAX`] different descriptions.
    pub(crate) fn info(&self) -> Result<&'static InterfaceInfo> {
        static MADE: Mutex<Vec<(Described, &'static InterfaceInfo)>> = Mutex::new(Vec::new());
        let iid = self.identity.iid;
        if let Some(owner) = owner_of(iid.to_u128())
            && iid != IUnknown::IID
        {
            let text = format!("the IID of interface `{}` belongs to {owner}", self.name);
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, info)) = made.iter().find(|(known, _)| known == self) {
            return Ok(info);
        }
        if made.len() >= DESCRIBED_MAX {
            return Err(Error::new(code::E_OUTOFMEMORY, "this process has described too many different interfaces"));
        }
        let endpoints: Vec<&'static str> = self.endpoints.iter().map(|text| &*text.clone().leak()).collect();
        let description = Description {
            name: self.name.clone().leak(),
            version: self.version,
            plain: self.plain,
            endpoints: endpoints.leak(),
            ndr: self.ndr.clone().leak(),
            idl: self.idl.clone().leak(),
            ..self.identity.description()
        };
        let info: &'static InterfaceInfo = Box::leak(Box::new(served::by_frames(description)));
        made.push((self.clone(), info));
        Ok(info)
    }
}

/// An interface that a server knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The interface's name.
    pub name: String,
    /// The interface's IID.
    pub iid: GUID,
}

/// One interface of an object in another process. The drop releases the reference.
pub struct Object {
    link: Arc<Link>,
    target: TargetId,
    refs: u32,
    iid: GUID,
}

/// Runs `calls`, and limits the time of each call that they make on this thread. The limit is not
/// sent to callees, because sending it costs one message per call. Inside [`crate::with_timeout`]
/// the limit is sent nevertheless.
pub fn with_unsent_timeout<R>(timeout: Duration, calls: impl FnOnce() -> R) -> R {
    deadline::with(Deadline::Within(timeout), calls)
}

/// Returns the interfaces that the process at a name or binding knows, sorted by name.
///
/// # Errors
///
/// As [`crate::connect`].
pub fn interfaces(name: &str) -> Result<Vec<Known>> {
    let runtime = process::runtime()?;
    let text = deadline::for_all_steps(|| own_target::interfaces(&*runtime.link_at(name)?))?;
    let known = text.lines().filter_map(|line| {
        let (name, iid) = line.split_once('\t')?;
        Some(Known { name: name.to_owned(), iid: guid::parse(iid)? })
    });
    Ok(known.collect())
}

/// Returns the IDL text of an interface that the process at a name or binding knows.
///
/// # Errors
///
/// E_NOINTERFACE when the process does not know the interface; otherwise as [`crate::connect`].
pub fn describe(name: &str, iid: &GUID) -> Result<String> {
    let runtime = process::runtime()?;
    deadline::for_all_steps(|| own_target::describe(&*runtime.link_at(name)?, iid))
}

impl Object {
    /// Connects to the object that a process exports by a name, with any interface of the object.
    ///
    /// # Errors
    ///
    /// As [`crate::connect`].
    pub fn connect(name: &str, interface: Identity) -> Result<Self> {
        let runtime = process::runtime()?;
        deadline::for_all_steps(|| {
            let (link, name) = runtime.find(name)?;
            let reference = ObjRef::from_any(&own_target::resolve(&link, &name, &interface.info(), Forms::Standard)?)?;
            Self::of(link, &reference)
        })
    }

    /// Binds to an interface of functions at a string binding, as [`crate::bind`] does. The result
    /// is the object that performs the interface at the server.
    ///
    /// # Errors
    ///
    /// As [`crate::bind`].
    pub fn bind(binding: &str, interface: &Described) -> Result<Self> {
        let info = interface.info()?;
        let (link, reference) = deadline::for_all_steps(|| functions::reach(binding, info))?;
        link.note_target(reference.target, info);
        link.add_proxy(reference.target);
        Ok(Self { link, target: reference.target, refs: reference.public_refs, iid: info.iid })
    }

    /// Wraps a reference to an interface that both sides describe alike.
    fn of(link: Arc<Link>, reference: &ObjRef) -> Result<Self> {
        if reference.oxid != link.oxid() {
            return Err(Error::new(code::RPC_E_INVALID_OBJREF, "the reference leads to an object of another process"));
        }
        Ok(Self::new(link, reference.target, reference.public_refs, reference.iid))
    }

    fn new(link: Arc<Link>, target: TargetId, refs: u32, iid: GUID) -> Self {
        let fingerprint = link.fingerprint(&iid).unwrap_or_default();
        link.note_frames(target, &Identity { iid, fingerprint }.info());
        link.add_proxy(target);
        Self { link, target, refs, iid }
    }

    /// Takes ownership of a reference that this object returned in a reply. `reference` has the
    /// bytes of an OBJREF. If the reference leads to another process, the function asks that
    /// process whether the object has the interface that the reference states.
    ///
    /// # Errors
    ///
    /// RPC_E_INVALID_OBJREF for malformed bytes; E_NOINTERFACE or RPC_E_INVALID_OBJREF if the
    /// reference states a false interface; the error of the connection where the object's process
    /// cannot be reached.
    pub fn adopt(&self, reference: &[u8]) -> Result<Self> {
        let reference = ObjRef::from_wire(reference)?;
        if reference.oxid == self.link.oxid() {
            return Self::of(Arc::clone(&self.link), &reference);
        }
        process::runtime()?.with_link_for(&reference, |link| {
            let is_stated = own_target::must_confirm(link, &reference);
            let refs = if is_stated { own_target::confirm(link, &reference)? } else { reference.public_refs };
            Ok(Self::new(Arc::clone(link), reference.target, refs, reference.iid))
        })
    }

    /// Queries another interface of the object.
    ///
    /// # Errors
    ///
    /// E_NOINTERFACE when the object does not have the interface; RPC_E_VERSION_MISMATCH when the
    /// server describes the interface differently.
    pub fn query(&self, interface: Identity) -> Result<Self> {
        let target = own_target::query_interface(&self.link, self.target, &interface.info())?;
        Ok(Self::new(Arc::clone(&self.link), target, own_calls::REFS_PER_QUERY, interface.iid))
    }

    /// Returns the IID.
    pub fn iid(&self) -> GUID {
        self.iid
    }

    /// Calls a method: sends the frame of a request, and returns the method's HRESULT and the frame
    /// of its reply.
    ///
    /// A failed method has no results. The opnum is the method's index in the vtable. The first
    /// method has opnum 3, also for functions.
    ///
    /// # Errors
    ///
    /// If the server answers with a fault, the connection fails, or the deadline passes.
    pub fn call(&self, opnum: u16, request: &[u8]) -> Result<(HRESULT, Vec<u8>)> {
        exchange(&self.link, self.target, opnum, request, Unsent::default())
    }

    /// As [`Self::call`], but stores the frame of the reply in `results`. The memory of `results`
    /// is reused, so that a caller that repeats a call allocates nothing.
    ///
    /// # Errors
    ///
    /// As for [`Self::call`]. After an error the contents of `results` are unspecified.
    pub fn call_into(&self, opnum: u16, request: &[u8], results: &mut Vec<u8>) -> Result<HRESULT> {
        exchange_into(&self.link, self.target, opnum, request, Unsent::default(), results)
    }

    /// Opens this thread's connection to the object's process, and waits until the process answers
    /// on it. If the server is not an obvia process, the function does not wait.
    ///
    /// # Errors
    ///
    /// If the process cannot be reached, or does not answer before the thread's time limit.
    pub fn reach(&self) -> Result<()> {
        let deadline = deadline::of_thread().start();
        let is_foreign = self.link.is_foreign();
        channels::with_channel(
            &self.link,
            |channel| {
                if is_foreign { Ok(()) } else { own_calls::settle(channel, deadline) }
            },
        )
    }

    /// Sends the request of a one-way method, and waits until the server has received it.
    ///
    /// # Errors
    ///
    /// If the connection fails, or the deadline passes.
    pub fn call_oneway(&self, opnum: u16, request: &[u8]) -> Result<()> {
        let deadline = deadline::of_thread().start();
        channels::with_channel(&self.link, |channel| {
            let length = put(channel, request, deadline)?;
            channel.oneway(self.target, opnum, length);
            own_calls::settle(channel, deadline)
        })
    }
}

/// Sends the frame of a request that contains the references `unsent`. Returns the method's HRESULT
/// and the frame of its reply.
fn exchange(
    link: &Arc<Link>,
    target: TargetId,
    opnum: u16,
    request: &[u8],
    unsent: Unsent,
) -> Result<(HRESULT, Vec<u8>)> {
    let mut results = Vec::new();
    let result = exchange_into(link, target, opnum, request, unsent, &mut results)?;
    Ok((result, results))
}

/// As [`exchange`], but stores the frame of the reply in `results`.
fn exchange_into(
    link: &Arc<Link>,
    target: TargetId,
    opnum: u16,
    request: &[u8],
    mut unsent: Unsent,
    results: &mut Vec<u8>,
) -> Result<HRESULT> {
    channels::with_channel(link, |channel| {
        let length = put(channel, request, deadline::ThreadLimit)?;
        let outcome = channel.call(target, opnum, length, deadline::ThreadLimit);
        unsent.is_published(outcome.as_ref().err());
        let reply = outcome?;
        results.resize(reply.frame.len(), 0);
        reply.frame.copy_to(0, results).ok_or(code::RPC_E_INVALID_DATA)?;
        Ok(HRESULT(reply.status.cast_signed()))
    })
}

/// Writes a request's frame to the channel, and returns its length in bytes, which is a multiple of
/// 8.
fn put(channel: &mut Channel, request: &[u8], limit: impl Limit) -> Result<usize> {
    let length = request.len().next_multiple_of(8);
    let frame = channel.request(length, 0, limit)?;
    frame[..request.len()].copy_from_slice(request);
    frame[request.len()..].fill(0);
    Ok(length)
}

impl Drop for Object {
    fn drop(&mut self) {
        self.link.forget_target(self.target);
        self.link.remove_proxy(self.target, self.refs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Remote;
    use crate::events::idl::IConnectionPoint;
    use crate::protocol::call_context;
    use crate::types::{identity, registry};

    #[obvia::object()]
    struct Exported;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn a_third_process_is_asked_for_the_interface_of_a_reference() {
        let (runtime, link) = (process::runtime().unwrap(), Arc::new(Link::to_itself()));
        let third = runtime.add_link(Link::to_another(identity::draw().unwrap()));
        registry::register_for_calls(IConnectionPoint::INFO);
        let object = IUnknown::from(Exported);
        let given = || runtime.marshal_own(&object, &UNKNOWN_INFO, runtime.receiver_behind(&link)).unwrap();
        let asked = Object::of(Arc::clone(&link), &given()).unwrap();
        let adopt = |oxid, iid| {
            let reference = ObjRef { oxid, iid, ..given() };
            asked.adopt(&reference.to_wire().unwrap()).map(|object| object.iid()).map_err(|error| error.code())
        };
        assert_eq!(adopt(third.oxid(), IConnectionPoint::IID), Err(code::E_NOINTERFACE));
        assert_eq!(adopt(third.oxid(), IUnknown::IID), Ok(IUnknown::IID));
        // A reference to an object of the called process itself is adopted without a query.
        assert_eq!(adopt(link.oxid(), IConnectionPoint::IID), Ok(IConnectionPoint::IID));
    }

    #[test]
    fn an_unsent_timeout_limits_calls_and_is_no_call_context() {
        let hour = Duration::from_secs(3600);
        let (is_sent, left) =
            with_unsent_timeout(hour, || (call_context::is_set(), deadline::of_thread().start().remaining()));
        assert!(!is_sent && left > hour / 2 && left <= hour, "{left:?}");
        assert!(
            crate::with_timeout(hour, || with_unsent_timeout(hour, call_context::is_set)),
            "a limit of the program"
        );
    }
}
