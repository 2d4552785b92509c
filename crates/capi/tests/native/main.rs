//! libobvia as programs in C and C++ find it.

mod access;
mod cancel;
mod classes;
mod events;
mod program;
mod races;
mod random_calls;
mod regions;
mod security;
mod specialised;
mod symbols;
