//! The functions of the runtime over raw pointers, for bindings of other languages. Programs do not
//! use them.

pub use crate::api::dynamic::pointer::connect;
pub use crate::api::dynamic::served::{ObjectTable, Performer, WeakObject, object, with_performer};
pub use crate::api::events::connection::advise_by;
pub use crate::api::events::objects::{enumerate_points, find_point};
pub use crate::api::events::sinks::{Event, Point, Posted};
pub use crate::api::listing::way_to as binding_of;
pub use crate::client::channels::{Calls, RawReply};
pub use crate::client::proxy::{Proxy, UNKNOWN};
pub use crate::marshal::graph::{Invoke, Method, clear_elements, copy_elements, free_elements};
pub use crate::rt::give_text;
pub use crate::server::{Loop, Served, leave_caller, set_loop};
pub use crate::services::dcom::classes::Activated;
pub use crate::services::dcom::registering::{register_class_by, register_class_to_networks};
pub use crate::types::agile::IID_AGILE_OBJECT;
pub use crate::types::memory::{allocate, release};
pub use crate::types::registry::{Description, InterfaceInfo, VtablePointer, declare_copy};
pub use crate::types::registry::{StubFn, Stubs};
pub use obvia_ndr::flat::shape::{Element, ElementType};
pub use obvia_ndr::flat::words;
pub use obvia_rpc::vi_call::{Answer, ServerCall};
pub use obvia_via::window::REGION_CACHES;

pub use crate::api::names::Export;
pub use crate::client::shared::Access;
use crate::types::error::{Error, Result, leave, words};
pub use crate::types::error::{is_own_user, unforeseen};

use crate::Serving;
use crate::api::dynamic::Described;
use crate::api::endpoints::listen_at_endpoints;
use crate::api::functions::{bind_object, serve_object};
use crate::api::names::export_object;
use crate::client::canceller::Canceller;
use crate::runtime::marshaling::{Context, Flags};
use crate::services::dcom::ClassContext;
use crate::services::dcom::creation::activate;
use obvia_via::RegionView;
use std::time::Duration;
use windows_core::{GUID, HRESULT, IUnknown};

/// Returns the user id of this process.
pub fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Prepares a channel of the proxy's link for this thread's next call: see [`Calls::exchange`].
///
/// # Errors
///
/// If the peer cannot be reached or takes no further call, if the call's deadline has passed, or if
/// one of the thread's cancellers was used.
pub fn prepare(proxy: &Proxy) -> Result<*const Calls> {
    Calls::with(|calls| {
        calls.prepare(proxy.link())?;
        Ok(std::ptr::from_ref(calls))
    })
}

/// Returns the HRESULT of a call that failed: the frame of its reply does not have the length of
/// the results, or no frame could be allocated for its request. [`text`] returns the explanation.
///
/// # Safety
///
/// The reply must be the last one of the thread.
pub unsafe fn refusal(raw: RawReply) -> HRESULT {
    // The frame is null if no frame could be allocated for the request. The failed allocation has
    // left its error on the thread.
    let raw = if raw.frame.is_null() { RawReply { frame: RawReply::NO_FRAME, word: left() } } else { raw };
    // SAFETY: the caller promises that the reply is the thread's last one, so its frame is alive.
    // The replacement for a null frame has length 0.
    let frame = unsafe { RegionView::new(raw.frame, (raw.word >> 32) as usize) };
    crate::marshal::reply::refusal(frame, raw.word as u32).code()
}

/// Returns, as the word of a reply, the HRESULT of the last error that was left on this thread.
fn left() -> u64 {
    u64::from(crate::types::error::last_code().0.cast_unsigned())
}

/// Exports an object by a name, as [`crate::export`] does.
///
/// # Errors
///
/// As [`crate::export`].
pub fn export(name: &str, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Export> {
    export_object(name, object, info)
}

/// Exports an object only to clients over a network. For processes of this host, the runtime in the
/// program's own language exports the object by the name.
///
/// # Errors
///
/// As [`crate::export`].
pub fn export_to_networks(name: &str, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Export> {
    crate::api::names::export_to_networks(name, object, info)
}

/// Returns the description of an interface without generated code. Programs call and implement the
/// interface by frames. Equal values of `interface` share one description, which is never freed.
///
/// # Safety
///
/// No generated code of this process may use the interface, since proxies of the described
/// interface have only the methods of IUnknown. The interfaces that the runtime itself calls are
/// refused.
///
/// # Errors
///
/// E_INVALIDARG for an IID that belongs to COM or to the runtime, except IUnknown's.
pub unsafe fn describe(interface: &Described) -> Result<&'static InterfaceInfo> {
    interface.info()
}

/// Performs a plain interface, as [`crate::serve_interface_for`] does.
///
/// # Errors
///
/// As for [`crate::serve_interface`].
pub fn serve_interface(uuid: GUID, object: &IUnknown, info: &'static InterfaceInfo) -> Result<Serving> {
    serve_object(uuid, object, info)
}

/// Binds to a plain interface, as [`crate::bind`] does. The result is an interface pointer of the
/// described interface.
///
/// # Errors
///
/// As for [`crate::bind`].
pub fn bind(binding: &str, info: &'static InterfaceInfo) -> Result<IUnknown> {
    crate::server::exports::query(&bind_object(binding, info)?, info)
}

/// Listens for calls of a plain interface, as [`crate::listen_for`] does.
///
/// # Errors
///
/// As for [`crate::listen_for`].
pub fn listen_for(info: &'static InterfaceInfo) -> Result<Vec<String>> {
    listen_at_endpoints(info)
}

/// Activates a class, as [`crate::dcom::create_instance`] and the similar functions do. The result
/// is an interface pointer of the described interface.
///
/// # Errors
///
/// As for [`crate::dcom::create_instance`].
pub fn create(
    class: GUID,
    server: Option<&str>,
    wanted: Activated,
    context: ClassContext,
    info: &'static InterfaceInfo,
) -> Result<IUnknown> {
    crate::server::exports::query(&activate(class, server, wanted, context, info)?, info)
}

/// Marshals an object, as [`crate::marshaling::marshal`] does.
///
/// # Errors
///
/// As for [`crate::marshaling::marshal`].
pub fn marshal(object: &IUnknown, info: &'static InterfaceInfo, context: Context, flags: Flags) -> Result<Vec<u8>> {
    crate::api::marshaling::marshal_object(object, info, context, flags)
}

/// Unmarshals an object, as [`crate::marshaling::unmarshal`] does. The result is an interface
/// pointer of the described interface.
///
/// # Errors
///
/// As for [`crate::marshaling::unmarshal`].
pub fn unmarshal(bytes: &[u8], info: &'static InterfaceInfo) -> Result<IUnknown> {
    crate::api::marshaling::unmarshal_object(bytes, info)
}

/// Stores an error on this thread for [`text`], and returns the HRESULT of the error.
pub fn fail(error: Error) -> HRESULT {
    leave(error)
}

/// Returns the explanation of a failed HRESULT on this thread.
pub fn text(result: HRESULT) -> String {
    words(result).to_string()
}

/// Returns the error of a failed HRESULT on this thread.
pub fn error(result: HRESULT) -> Error {
    words(result)
}

/// Returns the frame with the error information of a failed HRESULT on this thread (docs/flat.md).
pub fn words_frame(result: HRESULT) -> Vec<u8> {
    words(result).to_words().to_frame()
}

/// Allocates shared memory, as [`crate::SharedMemory::new`]. [`unshare`] releases it.
///
/// # Errors
///
/// As [`crate::SharedMemory::new`].
pub fn share(bytes: usize, access: Access) -> Result<*mut u8> {
    Ok(crate::client::shared::make(bytes, access)?.start().as_ptr())
}

/// Releases the memory that [`share`] returned. Any other pointer is ignored.
pub fn unshare(memory: *mut u8) {
    crate::client::shared::end(memory);
}

/// Sets the time limit of this thread's further calls, and returns the previous limit. `None` means
/// the default limit.
pub fn set_timeout(timeout: Option<Duration>) -> Option<Duration> {
    crate::types::deadline::set_timeout(timeout)
}

/// Adds a canceller that can end this thread's further calls, until [`remove_canceller`]. In Rust,
/// [`Canceller::run`] adds a canceller only while a function runs.
pub fn add_canceller(canceller: &Canceller) {
    canceller.add();
}

/// Reverts one call of [`add_canceller`] with this canceller on this thread. Does nothing if there
/// was no such call.
pub fn remove_canceller(canceller: &Canceller) {
    canceller.remove();
}
