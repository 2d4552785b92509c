//! Calls methods that C has too with random values, and serves objects that know these: see `obvia idl --test`.

include!(concat!(env!("OUT_DIR"), "/plain_test.rs"));
