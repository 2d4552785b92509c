//! Every construct, in one process and across two, in Rust and in C++.

mod cpp;
mod server;
mod shapes;
mod values;
