//! Principals and permissions: the credentials and accounts of this process, the access rules, and
//! the audit log.

pub(crate) mod audit;
pub(crate) mod credentials;
mod guesses;
pub(crate) mod principal;
pub(crate) mod rules;

pub(crate) use audit::{log_denial, log_refused_connection, log_refused_host, log_refused_memory};
pub(crate) use credentials::{Protection, acceptor, accounts, has_accounts};
pub(crate) use principal::Caller;
pub(crate) use rules::{Rules, log_refused_class};
