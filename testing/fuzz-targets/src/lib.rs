//! Fuzz targets for the parsers of untrusted bytes. Each file is one target: its function `run`
//! takes an input, and panics if the parser is wrong.

mod accounts;
mod automation;
mod bind_pdu;
mod class_file;
mod conditions;
mod dg_server;
mod dg_units;
mod epm_call;
mod failure_words;
mod flat_check;
mod flat_copies;
mod frame_values;
mod idl_format;
mod idl_parse;
mod ndr_decode;
mod ndr_words;
mod ntlm_message;
mod orpc_calls;
mod orpc_objref;
mod orpc_references;
mod pdu_client;
mod pdu_server;
mod pdu_units;
mod proof_legs;
mod spnego_token;
mod string_binding;
mod type_library;
mod vi_packet;

/// A function that takes an input.
pub type Target = fn(&[u8]);

/// Calls a macro with the names of all targets.
#[macro_export]
macro_rules! for_each_target {
    ($call:ident) => {
        $call! {
            accounts automation bind_pdu class_file conditions dg_server dg_units
            epm_call failure_words flat_check flat_copies frame_values idl_format idl_parse ndr_decode ndr_words
            ntlm_message orpc_calls orpc_objref orpc_references pdu_client pdu_server
            pdu_units proof_legs spnego_token string_binding type_library vi_packet
        }
    };
}

macro_rules! table {
    ($($name:ident)*) => {
        /// The targets, by their names.
        pub const TARGETS: &[(&str, Target)] = &[$((stringify!($name), $name::run)),*];
    };
}
for_each_target!(table);

/// Returns the longest prefix of an input that is UTF-8.
fn text(input: &[u8]) -> &str {
    input.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}
