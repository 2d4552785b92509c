//! Calls methods of values with random ones, and serves objects that know these: see `obvia idl --test`.

include!(concat!(env!("OUT_DIR"), "/values_test.rs"));
