//! Calls: binding, opnums, call ids, faults and deadlines over any provider.

#![forbid(unsafe_code)]

pub mod object_table;
pub mod pdu;
pub mod status;
pub mod string_binding;
pub mod uuid;
pub mod vi_call;
