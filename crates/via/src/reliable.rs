//! Reliability over wires that lose, repeat and mix up datagrams.

mod link;

pub use link::Link;
