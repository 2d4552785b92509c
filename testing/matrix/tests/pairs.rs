//! Tests of every construct of the IDL in calls between Rust, C++, C and Java, within one process
//! and between two.

mod checks;
mod functions;
mod java;
mod malformed_responses;
mod native;
mod places;
mod server;
mod shapes;
mod stranger;
mod utf8;
mod values;
mod vectors;
