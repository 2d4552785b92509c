//! Calls functions with random values, and serves objects that know these: see `obvia idl --test`.

include!(concat!(env!("OUT_DIR"), "/functions_test.rs"));
