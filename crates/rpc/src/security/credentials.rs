//! Who calls: credentials that clients show, and accounts that servers check them against.

use super::secret::NtHash;
use std::collections::HashMap;
use std::fmt;

/// Who a client says it is, and what proves it.
#[derive(Clone)]
pub enum Credential {
    /// Nobody. Servers take it only where they are told to.
    Anonymous,
    /// A user with a password.
    User {
        /// The domain that knows the user; may be empty.
        domain: String,
        /// Its name.
        user: String,
        /// The hash of its password.
        hash: NtHash,
    },
}

impl Credential {
    /// A user's with a password, which is not kept.
    #[must_use]
    pub fn user(domain: &str, user: &str, password: &str) -> Self {
        Self::User { domain: domain.to_owned(), user: user.to_owned(), hash: NtHash::of_password(password) }
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anonymous => write!(f, "Anonymous"),
            Self::User { domain, user, .. } => write!(f, "User({domain}\\{user})"),
        }
    }
}

/// A client's credentials: which ones to show to whom.
pub trait Credentials: Send + Sync {
    /// The credential for a server, told by its principal name (`host/name`) as far as the client knows one. `None` if there is none: the
    /// association is not made then.
    fn credential(&self, principal: &str) -> Option<Credential>;
}

/// The same for every server.
impl Credentials for Credential {
    fn credential(&self, _principal: &str) -> Option<Credential> {
        Some(self.clone())
    }
}

/// A server's accounts.
pub trait Accounts: Send + Sync {
    /// The hash of a user's password; `None` if there is no such user. The client gives domain and name: neither is to be believed before the
    /// proof has been checked.
    fn hash(&self, domain: &str, user: &str) -> Option<NtHash>;

    /// Whether clients that say nothing about who they are may call. They may not, unless this is overridden.
    fn has_anonymous(&self) -> bool {
        false
    }
}

/// Accounts in memory, by name, in whatever domain the client says. Names differ by more than case.
#[derive(Default)]
pub struct AccountTable {
    hashes: HashMap<String, NtHash>,
    anonymous: bool,
}

impl AccountTable {
    /// Adds a user, or changes its password.
    #[must_use]
    pub fn with(mut self, user: &str, hash: NtHash) -> Self {
        self.hashes.insert(uppercase(user), hash);
        self
    }

    /// Lets in who does not say who it is.
    #[must_use]
    pub fn with_anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }
}

impl Accounts for AccountTable {
    fn hash(&self, _domain: &str, user: &str) -> Option<NtHash> {
        self.hashes.get(&uppercase(user)).cloned()
    }

    fn has_anonymous(&self) -> bool {
        self.anonymous
    }
}

impl fmt::Debug for AccountTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountTable").field("users", &self.hashes.len()).field("anonymous", &self.anonymous).finish()
    }
}

/// A name in capitals, character by character: one that would become several stays as it is, as where NTLM comes from.
pub(super) fn uppercase(name: &str) -> String {
    let capital = |small: char| {
        let mut capitals = small.to_uppercase();
        match (capitals.next(), capitals.next()) {
            (Some(one), None) => one,
            _ => small,
        }
    };
    name.chars().map(capital).collect()
}
