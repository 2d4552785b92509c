//! Tests libobvia from programs in C and C++.

mod access;
mod cancel;
mod classes;
mod contexts;
mod events;
mod large;
mod local;
mod loops;
mod meaning;
mod permissive;
mod program;
mod races;
mod random_calls;
mod regions;
mod security;
mod sound;
mod specialised;
mod symbols;
mod unloading;
