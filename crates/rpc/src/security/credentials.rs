//! Credentials of clients, and the accounts against which servers check them.

use super::Principal;
use super::secret::NtHash;
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The identity that a client claims, and the secret that proves it.
#[derive(Clone)]
pub enum Credential {
    /// No identity. Servers accept an anonymous client only if their accounts allow such clients.
    Anonymous,
    /// A user with a password.
    User {
        /// The user's domain; may be empty.
        domain: String,
        /// The user's name.
        user: String,
        /// The hash of the password.
        hash: NtHash,
    },
}

impl Credential {
    /// Creates a user's credential. The password is not kept.
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

/// Selects a client's credential for each server.
pub trait Credentials: Send + Sync {
    /// Returns the credential for the server with the principal name `principal` (`host/name`),
    /// which is empty if the client does not know the name. If the result is `None`, the
    /// association fails.
    fn credential(&self, principal: &str) -> Option<Credential>;
}

/// Returns the same credential for every server.
impl Credentials for Credential {
    fn credential(&self, _principal: &str) -> Option<Credential> {
        Some(self.clone())
    }
}

/// The accounts of a server.
pub trait Accounts: Send + Sync {
    /// Returns the hash of a user's password, or `None` for an unknown user. Domain and name are
    /// the client's claims and unverified.
    fn hash(&self, domain: &str, user: &str) -> Option<NtHash>;

    /// Returns the principal of a client that has proved its knowledge of the password whose hash
    /// is [`Self::hash`]. By default, the principal has the domain and the name that the client has
    /// sent. Accounts that ignore the domain or the name in [`Self::hash`] should also leave it out
    /// of the principal, since each principal counts as a separate user.
    fn principal(&self, domain: &str, user: &str) -> Principal {
        Principal { domain: domain.to_owned(), user: user.to_owned() }
    }

    /// Whether anonymous clients are accepted. By default they are not.
    fn has_anonymous(&self) -> bool {
        false
    }

    /// Returns the time for which proofs for this user are refused because too many proofs were
    /// wrong. By default, no proof is refused. A server calls this method before it checks a proof.
    /// It calls the method again before it accepts a right proof, because proofs that were checked
    /// at the same time may have been wrong.
    fn barred_for(&self, _domain: &str, _user: &str) -> Option<Duration> {
        None
    }

    /// Records a proof for this user, and whether the proof was right.
    fn tried(&self, _domain: &str, _user: &str, _is_right: bool) {}
}

/// Accounts in memory, by user name. Names are compared without case. The domain that a client
/// sends is ignored: principals have no domain, and have the name as it is spelled in the table.
#[derive(Default)]
pub struct AccountTable {
    /// The name and the hash of each user, by the name in upper case.
    users: HashMap<String, (String, NtHash)>,
    anonymous: bool,
}

impl AccountTable {
    /// Adds a user, or replaces the password of a known user.
    #[must_use]
    pub fn with(mut self, user: &str, hash: NtHash) -> Self {
        self.users.insert(uppercase(user), (user.to_owned(), hash));
        self
    }

    /// Accepts anonymous clients.
    #[must_use]
    pub fn with_anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }
}

/// The reason why a text is not a table of accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAccounts {
    /// The line number, from 1 on.
    pub line: usize,
    /// The reason why the line is not an account.
    pub why: &'static str,
}

impl fmt::Display for BadAccounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The message does not contain the line, which may contain a hash.
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for BadAccounts {}

impl FromStr for AccountTable {
    type Err = BadAccounts;

    /// Reads a line `USER = HASH` for each account, with the NT hash of the password in 32
    /// hexadecimal digits. Blank lines and lines that begin with `#` are ignored.
    ///
    /// # Errors
    ///
    /// [`BadAccounts`] for the first malformed line or duplicate user.
    fn from_str(text: &str) -> Result<Self, BadAccounts> {
        let mut table = Self::default();
        for (line, said) in (1..).zip(text.lines().map(str::trim)) {
            if said.is_empty() || said.starts_with('#') {
                continue;
            }
            let bad = |why| BadAccounts { line, why };
            let (user, digits) = said.split_once('=').ok_or_else(|| bad("expected `USER = HASH`"))?;
            let (user, digits) = (user.trim(), digits.trim());
            if user.is_empty() {
                return Err(bad("the user's name is missing"));
            }
            let is_hash = digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let hash = is_hash.then(|| u128::from_str_radix(digits, 16).ok()).flatten();
            let hash = hash.ok_or_else(|| bad("the NT hash is missing, or is not 32 hexadecimal digits"))?;
            let hash = NtHash::from_bytes(hash.to_be_bytes());
            let before = table.users.insert(uppercase(user), (user.to_owned(), hash));
            if before.is_some() {
                return Err(bad("an earlier line has the same user"));
            }
        }
        Ok(table)
    }
}

impl Accounts for AccountTable {
    fn hash(&self, _domain: &str, user: &str) -> Option<NtHash> {
        self.users.get(&uppercase(user)).map(|(_, hash)| hash.clone())
    }

    fn principal(&self, _domain: &str, user: &str) -> Principal {
        let known = self.users.get(&uppercase(user)).map_or(user, |(known, _)| known);
        Principal { domain: String::new(), user: known.to_owned() }
    }

    fn has_anonymous(&self) -> bool {
        self.anonymous
    }
}

impl fmt::Debug for AccountTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountTable").field("users", &self.users.len()).field("anonymous", &self.anonymous).finish()
    }
}

/// Converts a name to upper case character by character. A character whose upper case has several
/// characters stays unchanged, as in the original NTLM.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_tables_are_parsed_line_by_line() {
        let text = "# Who may.\n\n Anna = 8846F7EAEE8FB117AD06BDD830B7586C\notto=00000000000000000000000000000001\n";
        let table: AccountTable = text.parse().unwrap();
        let password = NtHash::of_password("password");
        assert_eq!(table.hash("ANY", "anna").unwrap().bytes(), password.bytes());
        assert_eq!(table.hash("", "OTTO").unwrap().bytes()[15], 1);
        assert!(table.hash("", "").is_none() && !table.has_anonymous());
        let anna = Principal { domain: String::new(), user: "Anna".to_owned() };
        assert_eq!([table.principal("A1", "anna"), table.principal("A2", "ANNA")], [anna.clone(), anna]);
        let hash = "8846f7eaee8fb117ad06bdd830b7586c";
        for (text, line, why) in [
            ("anna".to_owned(), 1, "expected `USER = HASH`"),
            (format!("\n = {hash}"), 2, "the user's name is missing"),
            ("anna = 8846".to_owned(), 1, "the NT hash is missing"),
            (format!("anna = +{}", &hash[1..]), 1, "the NT hash is missing"),
            (format!("anna = {hash}\nANNA = {hash}"), 2, "an earlier line has the same user"),
        ] {
            let error = text.parse::<AccountTable>().unwrap_err();
            assert!(error.line == line && error.why.starts_with(why), "{text}: {error}");
            assert!(!error.to_string().contains("8846"), "{error}");
        }
    }
}
