//! Calls methods with random values, and serves objects that verify them: see `obvia idl --test`.

include!(concat!(env!("OUT_DIR"), "/values_test.rs"));
