//! Every construct, in one process and across two.

mod server;
mod shapes;
mod values;
