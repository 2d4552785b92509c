//! Objects: COM interfaces called in process, across processes and across hosts.
//!
//! An interface is written in IDL and compiled by `obvia-idl` in a build script. An object with the
//! interface can be [exported](export) by a name. Another process [connects](connect) to the name
//! and gets an interface pointer that behaves like the object's own. Interface pointers may be
//! passed as parameters and results, in both directions.
//!
//! A server and a client, with the interface that `calc.idl` declares:
//!
//! ```ignore
//! obvia::include_idl!("calc");
//!
//! #[obvia::object(ICalc)]
//! struct Calc;
//!
//! impl ICalc_Impl for Calc_Impl {
//!     fn Add(&self, a: i32, b: i32) -> obvia::Result<i32> { Ok(a + b) }
//! }
//!
//! fn serve() -> obvia::Result<()> {
//!     let _export = obvia::export("calc", ICalc::from(Calc))?;
//!     obvia::wait_for_signal()
//! }
//!
//! fn call() -> obvia::Result<()> {
//!     let calc: ICalc = obvia::connect("calc")?;
//!     println!("2 + 3 = {}", calc.Add(2, 3)?);
//!     Ok(())
//! }
//! ```
//!
//! Within one process a call is a plain call through the object's vtable. Between processes of a
//! host it goes through shared memory, without the kernel: see the crates on which this crate
//! builds, `obvia-rpc` (calls), `obvia-ndr` (layout) and `obvia-via` (memory).

// Generated code refers to the crate by this name, also within the crate itself.
extern crate self as obvia;

#[doc(hidden)]
pub mod abi;
mod access;
mod api;
mod client;
mod marshal;
pub mod orpc;
mod protocol;
#[doc(hidden)]
pub mod rt;
mod runtime;
mod server;
mod services;
mod transport;
mod types;

pub use api::endpoints::{EndpointMapper, Registration, listen_for, register_endpoints, serve_endpoint_mapper};
pub use api::functions::{Serving, bind, serve_interface, serve_interface_for};
pub use api::listen::{listen, listen_passed};
pub use api::listing::{
    Connected, Connections, Listed, Performed, binding_of, connections, describe, exported, list, list_at, names,
    performed_at,
};
pub use api::names::{Export, connect, directory_of_names, export};
pub use api::security::caller;
pub use api::{dynamic, events, marshaling, security};
pub use client::canceller::Canceller;
pub use client::shared::Access;
pub use marshal::automation::{self, Bstr, IDispatch, SafeArray, Variant};
pub use marshal::elements::{Elements, ElementsMut, Lending, Lent};
pub use marshal::graph::{Graph, Owned, OwnedSlice, Text, Wide};
pub use marshal::shared_memory::SharedMemory;
pub use obvia_macros::object;
pub use obvia_via::Waiting;
pub use runtime::ending::{catch_signals, wait, wait_for_signal};
pub use runtime::is_string_binding;
pub use server::{ContextHandle, is_cancelled};
pub use services::{dcom, scm};
pub use transport::local::set_waiting;
pub use transport::trace;
pub use types::agile::{Agile, Shareable};
pub use types::deadline::{DEFAULT_TIMEOUT, caller_deadline, with_deadline, with_timeout};
pub use types::error::{Error, Result, code, set_panic_texts};
pub use types::registry::{InterfaceInfo, Remote, register};
pub use widestring::{U16CStr, U16CString, u16cstr};
pub use windows_core::{self, ComObject, GUID, HRESULT, IUnknown, Interface};

/// Includes the code that `obvia_idl::build("NAME.idl")` made in the build script.
///
/// ```ignore
/// obvia::include_idl!("calc");
/// ```
#[macro_export]
macro_rules! include_idl {
    ($name:literal) => {
        $crate::include_idl! { mod idl = $name }
        pub use idl::*;
    };
    // In this form the invocation chooses the name of the module that contains the code.
    ($(#[$attribute:meta])* $visibility:vis mod $module:ident = $name:literal) => {
        $(#[$attribute])*
        #[allow(
            non_snake_case,
            non_camel_case_types,
            non_upper_case_globals,
            dead_code,
            missing_docs,
            missing_debug_implementations,
            unreachable_pub,
            unused_imports,
            unused_mut,
            unused_parens,
            unused_unsafe,
            unused_variables,
            reason = "generated"
        )]
        #[allow(clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery, reason = "generated")]
        $visibility mod $module {
            include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
        }
    };
}
