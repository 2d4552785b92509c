//! Every construct, in one process and across two, in Rust, C++ and C.

mod functions;
mod liar;
mod native;
mod server;
mod shapes;
mod values;
mod vectors;
