//! libobvia as programs in C and C++ find it.

mod cancel;
mod program;
mod regions;
mod symbols;
