//! Calls functions with random values, and serves objects that verify them: see `obvia idl --test`.

include!(concat!(env!("OUT_DIR"), "/functions_test.rs"));
