//! The functions of `shim.c`, and the types that both sides agree on.
//!
//! Handles are addresses of libfabric's objects, opaque in Rust. [`super::objects`] owns them; only
//! the modules of this provider call these functions.

use std::ffi::{c_char, c_int, c_void};

/// A stretch of memory: the system's `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Iovec {
    pub(super) start: *mut c_void,
    pub(super) length: usize,
}

/// An object of libfabric.
pub(super) type Handle = *mut c_void;

/// The capabilities of a provider. The layout must equal `ob_capabilities`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Capabilities {
    pub(super) max_message: u64,
    pub(super) segments: u32,
    pub(super) send_depth: u32,
    pub(super) receive_depth: u32,
    pub(super) data_bytes: u32,
    pub(super) local: u8,
    pub(super) virtual_address: u8,
    pub(super) provider_keys: u8,
    pub(super) automatic: u8,
    pub(super) send_after_write: u8,
    pub(super) consumes: u8,
    pub(super) unsupported: u8,
    pub(super) is_msg: u8,
}

pub(super) const EVENT_DATA: usize = 512;

/// An event of an event queue. The layout must equal `ob_event`.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Event {
    pub(super) info: Handle,
    pub(super) kind: u32,
    pub(super) error: u32,
    pub(super) length: u32,
    pub(super) data: [u8; EVENT_DATA],
}

/// A completion of a completion queue. The layout must equal `ob_done`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) context: *mut c_void,
    pub(super) data: u64,
    pub(super) length: u64,
    pub(super) error: u32,
    pub(super) has_data: u8,
    pub(super) is_remote_write: u8,
    pub(super) is_receive: u8,
    pub(super) is_error: u8,
}

// SAFETY: the context only distinguishes operations; Rust code never dereferences it.
unsafe impl Send for Done {}

const _: () = {
    assert!(size_of::<Capabilities>() == 32 && size_of::<Done>() == 32);
    assert!(size_of::<Event>() == 24 + EVENT_DATA && std::mem::offset_of!(Event, data) == 20);
};

pub(super) const EVENT_REQUEST: u32 = 1;
pub(super) const EVENT_CONNECTED: u32 = 2;
pub(super) const EVENT_SHUTDOWN: u32 = 3;
pub(super) const EVENT_ERROR: u32 = 4;

// SAFETY: the names and types are those of shim.c, which is compiled with this crate.
unsafe extern "C" {
    pub(super) safe static ob_context_size: usize;
    pub(super) safe static ob_error_again: u32;
    pub(super) safe static ob_error_truncated: u32;
    pub(super) safe static ob_error_no_data: u32;
    pub(super) safe fn ob_load() -> *const c_char;
    pub(super) fn ob_info(
        provider: *const c_char,
        domain: *const c_char,
        node: *const c_char,
        service: *const c_char,
        is_msg: u8,
        is_source: u8,
        ordered: u8,
        delivered: u8,
        info: *mut Handle,
    ) -> c_int;
    pub(super) fn ob_info_free(info: Handle);
    pub(super) fn ob_info_capabilities(info: Handle, out: *mut Capabilities);
    pub(super) fn ob_info_provider(info: Handle) -> *const c_char;
    pub(super) fn ob_info_peer(info: Handle, text: *mut c_char, room: usize);
    pub(super) fn ob_address(name: *const c_void, length: usize, text: *mut c_char, room: usize);
    pub(super) fn ob_port(name: *const c_void, length: usize) -> u16;
    pub(super) fn ob_fabric(info: Handle, fabric: *mut Handle) -> c_int;
    pub(super) fn ob_domain(fabric: Handle, info: Handle, domain: *mut Handle) -> c_int;
    pub(super) fn ob_eq(fabric: Handle, eq: *mut Handle, fd: *mut c_int) -> c_int;
    pub(super) fn ob_cq(domain: Handle, size: usize, cq: *mut Handle, fd: *mut c_int) -> c_int;
    pub(super) fn ob_passive(fabric: Handle, info: Handle, eq: Handle, pep: *mut Handle) -> c_int;
    pub(super) fn ob_endpoint(
        domain: Handle,
        info: Handle,
        eq: Handle,
        cq: Handle,
        av: Handle,
        ep: *mut Handle,
    ) -> c_int;
    pub(super) fn ob_name(endpoint: Handle, name: *mut c_void, length: *mut usize) -> c_int;
    pub(super) fn ob_connect(ep: Handle, info: Handle, data: *const c_void, length: usize) -> c_int;
    pub(super) fn ob_accept(ep: Handle, data: *const c_void, length: usize) -> c_int;
    pub(super) fn ob_reject(pep: Handle, info: Handle, data: *const c_void, length: usize) -> c_int;
    pub(super) fn ob_shutdown(ep: Handle) -> c_int;
    pub(super) fn ob_connection_data(endpoint: Handle) -> usize;
    pub(super) fn ob_av(domain: Handle, av: *mut Handle) -> c_int;
    pub(super) fn ob_av_insert(av: Handle, name: *const c_void, address: *mut u64) -> c_int;
    pub(super) fn ob_register(
        domain: Handle,
        start: *const c_void,
        length: usize,
        write: u8,
        read: u8,
        key: u64,
        mr: *mut Handle,
        found: *mut u64,
        descriptor: *mut Handle,
    ) -> c_int;
    pub(super) fn ob_receive(
        ep: Handle,
        segments: *const Iovec,
        descriptors: *mut Handle,
        count: usize,
        from: u64,
        context: *mut c_void,
    ) -> c_int;
    pub(super) fn ob_cancel(ep: Handle, context: *mut c_void) -> c_int;
    pub(super) fn ob_send(
        ep: Handle,
        segments: *const Iovec,
        descriptors: *mut Handle,
        count: usize,
        to: u64,
        data: u64,
        has_data: u8,
        delivered: u8,
        context: *mut c_void,
    ) -> c_int;
    pub(super) fn ob_write(
        ep: Handle,
        segments: *const Iovec,
        descriptors: *mut Handle,
        count: usize,
        to: u64,
        address: u64,
        length: u64,
        key: u64,
        data: u64,
        has_data: u8,
        delivered: u8,
        context: *mut c_void,
    ) -> c_int;
    pub(super) fn ob_read(
        ep: Handle,
        segments: *const Iovec,
        descriptors: *mut Handle,
        count: usize,
        from: u64,
        address: u64,
        length: u64,
        key: u64,
        context: *mut c_void,
    ) -> c_int;
    pub(super) fn ob_done(cq: Handle, done: *mut Done) -> c_int;
    pub(super) fn ob_event(eq: Handle, event: *mut Event) -> c_int;
    pub(super) fn ob_may_sleep(fabric: Handle, first: Handle, second: Handle) -> c_int;
    pub(super) fn ob_close(handle: Handle) -> c_int;
    pub(super) fn ob_error(number: c_int) -> *const c_char;
}
