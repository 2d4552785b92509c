//! The `obvia` command.
fn main() {}
