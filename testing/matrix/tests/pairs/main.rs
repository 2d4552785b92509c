//! Every construct, in one process and across two, in Rust, C++ and C.

mod functions;
mod guarded;
mod liar;
mod native;
mod server;
mod shapes;
mod stranger;
mod values;
mod vectors;
