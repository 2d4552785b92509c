//! Security of calls: authentication and authorisation of callers, the credentials that this
//! process presents, and the accounts by which it verifies clients, over networks and `ncalrpc`.
//!
//! A client selects the protection of its calls in a binding,
//! `ncacn_ip_tcp:host[port,security=privacy]`. A server selects the least protection in the
//! bindings that it [listens](crate::listen) on. `docs/security-of-calls.md` describes the whole.
//!
//! [Rules](set_access) decide which authenticated callers may call an object or activate a class.

pub(crate) mod access;
mod audit;
mod credentials;
mod principal;

pub use crate::access::{
    admit_other_users, caller, clear_access, set_access, set_class_access, set_default_access, set_default_class_access,
};
pub use access::{Access, Callers};
pub(crate) use access::{Rules, log_refused_class};
pub(crate) use audit::log_denial;
pub use audit::{Refusal, Refused, set_audit};
pub use credentials::{ACCOUNTS_VARIABLE, set_accounts, set_credentials, with_credentials};
pub(crate) use credentials::{Protection, acceptor, accounts, has_accounts};
pub use obvia_rpc::security::credentials::{AccountTable, Accounts, BadAccounts, Credential, Credentials};
pub use obvia_rpc::security::{AuthType, Authenticated, Level, NtHash, Principal};
pub use obvia_via::window::Peer;
pub use principal::Caller;
