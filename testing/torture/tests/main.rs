//! Tests with several processes, threads and hosts.

mod access;
mod activation;
mod cancel;
mod dcom;
mod error_info;
mod events;
mod failed_calls;
mod floods;
mod java;
mod lent_results;
mod lost_connections;
mod poll_path;
mod scm;
mod security;
mod strangers;
mod streams;
mod wakeups;
