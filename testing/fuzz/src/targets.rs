//! The targets: each file of the folder.

mod accounts;
mod automation;
mod bind_pdu;
mod class_file;
mod dg_server;
mod dg_units;
mod epm_call;
mod flat_check;
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
mod type_library;
mod vi_packet;

// `TARGETS`: the name of each file, and its function `run`. A file without a line above is an error here.
include!(concat!(env!("OUT_DIR"), "/targets.rs"));
