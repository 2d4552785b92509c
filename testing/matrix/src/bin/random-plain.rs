//! Calls the methods of the C back end's golden file with random values, and serves objects that
//! verify them: see `obvia idl --test`.

include!(concat!(env!("OUT_DIR"), "/plain_test.rs"));
