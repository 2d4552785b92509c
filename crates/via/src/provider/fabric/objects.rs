//! Owners of libfabric's objects: each closes its object, and keeps alive the objects that it was
//! opened on.
//!
//! The objects are opened with `FI_THREAD_SAFE`, so threads may share and exchange them.

use super::ffi::{self, Capabilities, Done, Event, Handle};
use crate::Error;
use crate::sync::lock;
use rustix::fd::{BorrowedFd, OwnedFd};
use std::ffi::{CStr, CString, c_int, c_void};
use std::io;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, Weak};

/// An object of libfabric. Dropping this value closes the object.
#[derive(Debug)]
pub(super) struct Owned(
    // Invariant: a live `struct fid` of libfabric that no other owner closes.
    pub(super) Handle,
);

// SAFETY: objects of libfabric opened with FI_THREAD_SAFE may be used by any thread.
unsafe impl Send for Owned {}
// SAFETY: as above; FI_THREAD_SAFE also allows several threads at once.
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: by the invariant, the object is live and no other owner closes it. The owners'
        // fields are declared in the order in which objects are closed: dependent objects first.
        let result = unsafe { ffi::ob_close(self.0) };
        debug_assert_eq!(result, 0, "an object of libfabric was closed before an object that depends on it");
    }
}

/// Returns the result of a libfabric call, or its error.
pub(super) fn check(doing: &'static str, result: c_int) -> Result<u32, Error> {
    u32::try_from(result).map_err(|_| error(doing, result.unsigned_abs()))
}

/// Returns the error for an error number. Numbers below 256 are those of the system; the others are
/// those of libfabric.
pub(super) fn error(doing: &'static str, number: u32) -> Error {
    let number = c_int::try_from(number).unwrap_or(c_int::MAX);
    if number < 256 {
        return Error::System { doing, source: io::Error::from_raw_os_error(number) };
    }
    // SAFETY: the function accepts any number. Numbers of 256 and more come from libfabric, so
    // libfabric is loaded.
    let text = unsafe { ffi::ob_error(number) };
    // SAFETY: by the man page of fi_strerror, `text` is a C string for any number, and is never
    // freed.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    Error::System { doing, source: io::Error::other(text) }
}

/// Loads libfabric, unless it is loaded.
fn load() -> Result<(), Error> {
    let missing = ffi::ob_load();
    if missing.is_null() {
        return Ok(());
    }
    // SAFETY: `missing` is a C string that is never freed, as the shim says.
    let why = unsafe { CStr::from_ptr(missing) }.to_string_lossy().into_owned();
    let advice = format!("{why}; install it (Debian: libfabric1), or set LD_LIBRARY_PATH to its folder");
    Err(Error::System { doing: "loading libfabric", source: io::Error::other(advice) })
}

fn text(text: Option<&str>) -> Result<Option<CString>, Error> {
    let bad = |_| Error::BadAddress { text: text.unwrap_or_default().to_owned(), why: "it has a zero byte" };
    text.map(CString::new).transpose().map_err(bad)
}

fn pointer(text: &Option<CString>) -> *const std::ffi::c_char {
    text.as_ref().map_or(null(), |text| text.as_ptr())
}

/// A provider's offer for an address: a `struct fi_info`.
#[derive(Debug)]
pub(super) struct Info(
    // Invariant: a list from fi_getinfo or an event queue, which no other owner frees.
    pub(super) Handle,
);

// SAFETY: an info is plain data that no thread changes.
unsafe impl Send for Info {}
// SAFETY: as above.
unsafe impl Sync for Info {}

/// The criteria of a search for providers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Query<'a> {
    pub(super) provider: &'a str,
    pub(super) domain: Option<&'a str>,
    pub(super) node: Option<&'a str>,
    pub(super) service: Option<&'a str>,
    pub(super) is_msg: bool,
    pub(super) is_source: bool,
    pub(super) ordered: bool,
    pub(super) delivered: bool,
}

impl Info {
    /// Searches for a provider. Returns `None` if no provider matches.
    ///
    /// Loads libfabric first: every other object is made from an [`Info`].
    pub(super) fn find(query: Query<'_>) -> Result<Option<Self>, Error> {
        load()?;
        let provider = text(Some(query.provider))?;
        let (domain, node, service) = (text(query.domain)?, text(query.node)?, text(query.service)?);
        let flag = u8::from;
        let mut info = null_mut();
        // SAFETY: libfabric is loaded, the texts live until the call returns, and `info` has room
        // for the result.
        let result = unsafe {
            ffi::ob_info(
                pointer(&provider),
                pointer(&domain),
                pointer(&node),
                pointer(&service),
                flag(query.is_msg),
                flag(query.is_source),
                flag(query.ordered),
                flag(query.delivered),
                &mut info,
            )
        };
        if result.unsigned_abs() == ffi::ob_error_no_data {
            return Ok(None);
        }
        check("asking libfabric for a provider", result)?;
        Ok(Some(Self(info)))
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        let mut found = Capabilities::default();
        // SAFETY: the info is live by the invariant, and the shim writes one `Capabilities`.
        unsafe { ffi::ob_info_capabilities(self.0, &mut found) };
        found
    }

    pub(super) fn provider(&self) -> String {
        // SAFETY: the info is live by the invariant.
        let name = unsafe { ffi::ob_info_provider(self.0) };
        // SAFETY: `name` is a C string that lives as long as the info.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }

    /// Returns the address of a requesting peer; empty where it is no IP address.
    pub(super) fn peer(&self) -> String {
        let mut room = [0_u8; 128];
        // SAFETY: the info is live by the invariant, and the shim writes a C string no longer than
        // `room`.
        unsafe { ffi::ob_info_peer(self.0, room.as_mut_ptr().cast(), room.len()) };
        CStr::from_bytes_until_nul(&room).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

impl Drop for Info {
    fn drop(&mut self) {
        // SAFETY: by the invariant, the info is live and no other owner frees it.
        unsafe { ffi::ob_info_free(self.0) };
    }
}

/// A fabric of libfabric (`fid_fabric`), on which domains and event queues are opened.
#[derive(Debug)]
pub(super) struct Fabric(pub(super) Owned);

impl Fabric {
    pub(super) fn open(info: &Info) -> Result<Arc<Self>, Error> {
        let mut found = null_mut();
        // SAFETY: `info` is live, and `found` has room for the result.
        let result = unsafe { ffi::ob_fabric(info.0, &mut found) };
        check("opening a fabric", result)?;
        Ok(Arc::new(Self(Owned(found))))
    }
}

/// A protection domain of a NIC: regions and endpoints of one protection tag.
#[derive(Debug)]
pub(super) struct Domain {
    pub(super) object: Owned,
    pub(super) fabric: Arc<Fabric>,
    /// For each open endpoint, the list of regions that it keeps: see [`Self::retire`].
    endpoints: Mutex<Vec<Weak<Retired>>>,
}

/// Regions that must stay in memory until an endpoint is closed.
pub(super) type Retired = Mutex<Vec<Arc<crate::Region>>>;

impl Domain {
    pub(super) fn open(fabric: &Arc<Fabric>, info: &Info) -> Result<Arc<Self>, Error> {
        let mut found = null_mut();
        // SAFETY: `fabric` and `info` are live, and `found` has room for the result.
        let result = unsafe { ffi::ob_domain(fabric.0.0, info.0, &mut found) };
        check("opening a domain", result)?;
        Ok(Arc::new(Self { object: Owned(found), fabric: Arc::clone(fabric), endpoints: Mutex::default() }))
    }

    /// Keeps a deregistered region until the open endpoints are closed: an RDMA that has begun may
    /// still be running, and libfabric does not say when it ends.
    pub(super) fn retire(&self, region: &Arc<crate::Region>) {
        let mut endpoints = lock(&self.endpoints);
        endpoints.retain(|endpoint| endpoint.strong_count() > 0);
        for endpoint in endpoints.iter().filter_map(Weak::upgrade) {
            lock(&endpoint).push(Arc::clone(region));
        }
    }

    /// Returns the list of regions that a new endpoint keeps.
    pub(super) fn enter(&self) -> Arc<Retired> {
        let retired = Arc::new(Mutex::default());
        let mut endpoints = lock(&self.endpoints);
        endpoints.retain(|endpoint| endpoint.strong_count() > 0);
        endpoints.push(Arc::downgrade(&retired));
        retired
    }
}

/// The registration of memory with libfabric.
#[derive(Debug)]
pub(super) struct Registration {
    _object: Owned,
    pub(super) key: u64,
    // Invariant: the result of fi_mr_desc, null or opaque.
    descriptor: Handle,
    _domain: Arc<Domain>,
}

// SAFETY: the descriptor is only handed back to libfabric, which any thread may do.
unsafe impl Send for Registration {}
// SAFETY: as above.
unsafe impl Sync for Registration {}

impl Registration {
    /// Registers memory.
    ///
    /// # Safety
    ///
    /// The memory must stay mapped as long as the registration lives, and as long as an operation
    /// on it runs.
    pub(super) unsafe fn new(
        domain: &Arc<Domain>,
        memory: &crate::Memory,
        access: crate::Access,
        key: u64,
    ) -> Result<Self, Error> {
        let (mut found, mut key_found, mut descriptor) = (null_mut(), 0, null_mut());
        let start: *const c_void = memory.start().as_ptr().cast();
        let (write, read) = (u8::from(access.write), u8::from(access.read));
        let handle = domain.object.0;
        // SAFETY: `domain` is live. By the caller's promise, the memory stays mapped. `found`,
        // `key_found` and `descriptor` have room for the results.
        let result = unsafe {
            ffi::ob_register(handle, start, memory.len(), write, read, key, &mut found, &mut key_found, &mut descriptor)
        };
        check("registering memory", result)?;
        Ok(Self { _object: Owned(found), key: key_found, descriptor, _domain: Arc::clone(domain) })
    }

    pub(super) fn descriptor(&self) -> Handle {
        self.descriptor
    }
}

/// An event queue.
#[derive(Debug)]
pub(super) struct EventQueue {
    pub(super) object: Owned,
    fabric: Arc<Fabric>,
    file: c_int,
}

/// An event of a connection.
#[derive(Debug)]
pub(super) enum ConnectionEvent {
    /// A peer's request, with its data.
    Request(Info, Vec<u8>),
    /// The peer's acceptance, with its data.
    Connected(Vec<u8>),
    /// The end of the connection.
    Shutdown,
    /// A connection that was not made, or broke: an error number, and the peer's data.
    Failed(u32, Vec<u8>),
    /// An event that this provider ignores.
    Other,
}

impl EventQueue {
    pub(super) fn open(fabric: &Arc<Fabric>) -> Result<Self, Error> {
        let (mut found, mut file) = (null_mut(), -1);
        // SAFETY: `fabric` is live, and `found` and `file` have room for the results.
        let result = unsafe { ffi::ob_eq(fabric.0.0, &mut found, &mut file) };
        check("opening an event queue", result)?;
        Ok(Self { object: Owned(found), fabric: Arc::clone(fabric), file })
    }

    /// Returns the next event.
    pub(super) fn next(&self) -> Result<Option<ConnectionEvent>, Error> {
        let mut event = Event { info: null_mut(), kind: 0, error: 0, length: 0, data: [0; ffi::EVENT_DATA] };
        // SAFETY: `self.object` is a live event queue, and the shim writes one `Event` at most.
        let result = unsafe { ffi::ob_event(self.object.0, &mut event) };
        if check("reading an event queue", result)? == 0 {
            return Ok(None);
        }
        let data = event.data[..(event.length as usize).min(ffi::EVENT_DATA)].to_vec();
        Ok(Some(match event.kind {
            ffi::EVENT_REQUEST if !event.info.is_null() => ConnectionEvent::Request(Info(event.info), data),
            ffi::EVENT_CONNECTED => ConnectionEvent::Connected(data),
            ffi::EVENT_SHUTDOWN => ConnectionEvent::Shutdown,
            ffi::EVENT_ERROR => ConnectionEvent::Failed(event.error, data),
            _ => ConnectionEvent::Other,
        }))
    }

    /// Returns a file that becomes readable when an event arrives. The file can be relied on only
    /// after [`Self::may_sleep`] has returned `true`.
    pub(super) fn file(&self) -> Result<Option<OwnedFd>, Error> {
        duplicate(self.file)
    }

    pub(super) fn may_sleep(&self) -> bool {
        // SAFETY: the fabric and the event queue are live.
        unsafe { ffi::ob_may_sleep(self.fabric.0.0, self.object.0, null_mut()) == 0 }
    }
}

fn duplicate(file: c_int) -> Result<Option<OwnedFd>, Error> {
    if file < 0 {
        return Ok(None);
    }
    // SAFETY: libfabric keeps the file open as long as its queue, which the caller holds.
    let file = unsafe { BorrowedFd::borrow_raw(file) };
    rustix::io::fcntl_dupfd_cloexec(file, 3).map(Some).map_err(Error::system("copying a file of libfabric"))
}

/// A completion queue.
#[derive(Debug)]
pub(super) struct Completions {
    pub(super) object: Owned,
    domain: Arc<Domain>,
    file: c_int,
}

impl Completions {
    pub(super) fn open(domain: &Arc<Domain>, size: usize) -> Result<Self, Error> {
        let (mut found, mut file) = (null_mut(), -1);
        // SAFETY: `domain` is live, and `found` and `file` have room for the results.
        let result = unsafe { ffi::ob_cq(domain.object.0, size, &mut found, &mut file) };
        check("opening a completion queue", result)?;
        Ok(Self { object: Owned(found), domain: Arc::clone(domain), file })
    }

    /// Returns the next completion.
    pub(super) fn next(&self) -> Result<Option<Done>, Error> {
        let mut done = Done {
            context: null_mut(),
            data: 0,
            length: 0,
            error: 0,
            has_data: 0,
            is_remote_write: 0,
            is_receive: 0,
            is_error: 0,
        };
        // SAFETY: `self.object` is a live completion queue, and the shim writes one `Done`.
        let result = unsafe { ffi::ob_done(self.object.0, &mut done) };
        Ok((check("reading a completion queue", result)? == 1).then_some(done))
    }

    pub(super) fn file(&self) -> Result<Option<OwnedFd>, Error> {
        duplicate(self.file)
    }

    /// Whether a thread may sleep on the files of this queue and of `events`.
    pub(super) fn may_sleep(&self, events: Option<&EventQueue>) -> bool {
        let second = events.map_or(null_mut(), |events| events.object.0);
        // SAFETY: the fabric and the queues are live.
        unsafe { ffi::ob_may_sleep(self.domain.fabric.0.0, self.object.0, second) == 0 }
    }
}
