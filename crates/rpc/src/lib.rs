//! Calls: binding, opnums, call identifiers, faults and deadlines, over any provider.

#![forbid(unsafe_code)]

pub mod co;
pub mod counts;
pub mod dg;
pub mod epm;
pub mod mgmt;
pub mod object_table;
pub mod octets;
pub mod security;
pub mod status;
pub mod string_binding;
pub mod uuid;
pub mod vi_call;

pub use octets::ByteOrder;
