//! The bytes that two processes exchange: frames, references, bind PDUs, headers of calls, and the
//! calls between runtimes.

pub(crate) mod binding;
pub(crate) mod call_context;
pub(crate) mod frame;
pub(crate) mod mark_proof;
pub(crate) mod objref;
pub(crate) mod orpc_headers;
pub(crate) mod own_calls;
pub(crate) mod place;
