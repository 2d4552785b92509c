//! Calls between programs in all languages.

mod declared_in_java;
mod endpoints;
mod groups;
mod guarded;
mod pairs;
