//! Every construct, in one process and across two, in Rust, C++, C and Java.

mod functions;
mod java;
mod liar;
mod native;
mod server;
mod shapes;
mod stranger;
mod values;
mod vectors;
