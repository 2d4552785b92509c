//! Parameters in frames: the support for generated proxies and stubs, structures with pointers, and
//! the values of Automation.

pub mod automation;
pub(crate) mod elements;
pub(crate) mod graph;
pub(crate) mod own_idl;
pub(crate) mod parameters;
pub(crate) mod proxy_call;
pub(crate) mod reply;
pub(crate) mod shared_memory;
pub(crate) mod stub;
