//! Security of calls: authentication and authorisation of callers, the credentials that this
//! process presents, and the accounts by which it verifies clients, over networks and `ncalrpc`.
//!
//! A client selects the protection of its calls in a binding,
//! `ncacn_ip_tcp:host[port,security=privacy]`. A server selects the least protection in the
//! bindings that it [listens](crate::listen) on. `docs/security-of-calls.md` describes the whole.
//!
//! [Rules](set_access) decide which authenticated callers may call an object or activate a class.

mod access;

pub use crate::access::audit::{Refusal, Refused, set_audit};
pub use crate::access::credentials::{ACCOUNTS_VARIABLE, set_accounts, set_credentials, with_credentials};
pub use crate::access::principal::Caller;
pub use crate::access::rules::{Access, Callers};
pub use access::{
    admit_other_users, caller, clear_access, set_access, set_class_access, set_default_access, set_default_class_access,
};
pub use obvia_rpc::security::credentials::{AccountTable, Accounts, BadAccounts, Credential, Credentials};
pub use obvia_rpc::security::{AuthType, Authenticated, Level, NtHash, Principal};
pub use obvia_via::window::Peer;
