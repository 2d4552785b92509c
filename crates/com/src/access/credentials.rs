//! The credentials that this process presents to servers, and the accounts by which it verifies
//! clients.

use super::guesses::GuardedAccounts;
use crate::types::error::{Error, Result, code};
use crate::types::plain_file::{self, Readers};
use obvia_rpc::security::context::{NtlmAcceptor, initiate};
use obvia_rpc::security::credentials::{AccountTable, Accounts, BadAccounts, Credentials};
use obvia_rpc::security::ntlm::ServerNames;
use obvia_rpc::security::proof::{CONTEXT_LEVEL, Prover};
use obvia_rpc::security::{Acceptor, AuthType, Level, Security};
use obvia_via::window::Peer;
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The environment variable with the path of the file of accounts, for a process that
/// [sets](set_accounts) no accounts. The file has lines `USER = HASH`, in the format of
/// [`AccountTable`].
pub const ACCOUNTS_VARIABLE: &str = "OBVIA_ACCOUNTS";

static CREDENTIALS: RwLock<Option<CredentialsByAddress>> = RwLock::new(None);

thread_local! {
    /// The credentials of this thread while [`with_credentials`] runs.
    static OF_THREAD: RefCell<Option<CredentialsByAddress>> = const { RefCell::new(None) };
}

static ACCOUNTS: RwLock<Option<Arc<dyn Accounts>>> = RwLock::new(None);

/// Sets the credentials that this process presents on new connections to servers at bindings with
/// [security](crate::listen). Existing connections keep their credentials.
///
/// A [`Credential`](crate::security::Credential) is the same for every server. A program with
/// several credentials, or with a credential that must not be presented to arbitrary servers,
/// implements [`Credentials`] and decides by the server's principal name. This name is `host/`
/// followed by the server's address, unless the binding has another name in the option `spn`.
///
/// # Example
///
/// ```no_run
/// use obvia::security::{Credential, set_credentials};
///
/// set_credentials(Credential::user("DOMAIN", "user", "password"));
/// // let calc: ICalc = obvia::connect("ncacn_ip_tcp:host[5555,security=privacy,name=calc]")?;
/// ```
pub fn set_credentials(credentials: impl Credentials + 'static) {
    let given = CredentialsByAddress(Arc::new(credentials));
    let before = CREDENTIALS.write().unwrap_or_else(PoisonError::into_inner).replace(given);
    // The previous credentials are dropped after the lock is released, because the drop can run
    // code of the program.
    drop(before);
}

/// Runs `work` on this thread with these credentials instead of [those of the
/// process](set_credentials). Connections that `work` makes keep the credentials, and are not
/// shared with calls under other credentials.
pub fn with_credentials<R>(credentials: &Arc<dyn Credentials>, work: impl FnOnce() -> R) -> R {
    /// The previous credentials. The drop restores them, even if `work` panics.
    struct Previous(Option<CredentialsByAddress>);

    impl Drop for Previous {
        fn drop(&mut self) {
            let _ = OF_THREAD.try_with(|own| own.replace(self.0.take()));
        }
    }

    let given = CredentialsByAddress(Arc::clone(credentials));
    let _previous = Previous(OF_THREAD.try_with(|own| own.replace(Some(given))).ok().flatten());
    work()
}

/// Sets the accounts by which this process authenticates its clients, from the next connection on.
/// The default is the file that [the environment](ACCOUNTS_VARIABLE) names.
///
/// Without accounts no client is authenticated. With accounts every client over a stream or over a
/// virtual interface of a network can authenticate. For clients at a binding that this process
/// [listens](crate::listen) on, the option `security` makes authentication mandatory, and sets the
/// least protection level.
pub fn set_accounts(accounts: impl Accounts + 'static) {
    let before = ACCOUNTS.write().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(accounts));
    // The previous accounts are dropped after the lock is released, because the drop can run code
    // of the program.
    drop(before);
}

/// Credentials that are compared by their address.
#[derive(Clone)]
struct CredentialsByAddress(Arc<dyn Credentials>);

impl CredentialsByAddress {
    fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
}

impl PartialEq for CredentialsByAddress {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for CredentialsByAddress {}

impl Hash for CredentialsByAddress {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for CredentialsByAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// The protection of this process's calls to one server, on each connection to the server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Protection {
    level: Level,
    kind: AuthType,
    principal: String,
    credentials: CredentialsByAddress,
}

impl Protection {
    /// Returns the protection with the current credentials: those of the thread, or else those of
    /// the process.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED if there are no credentials.
    pub(crate) fn new(level: Level, kind: AuthType, principal: String) -> Result<Self> {
        let of_process = || CREDENTIALS.read().unwrap_or_else(PoisonError::into_inner).clone();
        let credentials =
            OF_THREAD.try_with(|own| own.borrow().clone()).ok().flatten().or_else(of_process).ok_or_else(|| {
                let text = format!(
                    "security={level} requires authentication, and this process has no credentials: see \
                        set_credentials"
                );
                Error::new(code::E_ACCESSDENIED, text)
            })?;
        Ok(Self { level, kind, principal, credentials })
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// Begins a security context for a new association.
    pub(crate) fn begin(&self) -> Result<Security> {
        self.begin_at(self.level)
    }

    /// Begins an authentication over virtual interfaces to the server that this process reaches at
    /// the host `place`.
    pub(crate) fn prove(&self, place: &str) -> Result<Prover> {
        Ok(Prover::new(self.begin_at(CONTEXT_LEVEL)?, self.level, place))
    }

    fn begin_at(&self, level: Level) -> Result<Security> {
        let Self { kind, principal, credentials, .. } = self;
        initiate(*kind, level, principal, &*credentials.0).map_err(|why| {
            let text = format!("the credentials for {principal} are not available: {why}");
            Error::new(code::E_ACCESSDENIED, text)
        })
    }
}

/// Returns the authenticator for clients at `peer`. `None` if this process has no accounts or
/// cannot read them.
pub(crate) fn acceptor(peer: &Peer) -> Option<Arc<dyn Acceptor>> {
    let accounts = Arc::new(GuardedAccounts::new(accounts().ok()??, peer.clone()));
    // NTLM sends the server's name for the client's information only, so an empty name is harmless.
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Some(Arc::new(NtlmAcceptor::new(ServerNames::of_host(host.trim_end()), accounts)))
}

/// Returns the accounts that this process has set, or else the accounts in the file that the
/// environment names.
///
/// # Errors
///
/// If the file cannot be read, is readable by others, or is malformed.
pub(crate) fn accounts() -> Result<Option<Arc<dyn Accounts>>> {
    static NAMED: LazyLock<Result<Option<Arc<dyn Accounts>>>> = LazyLock::new(|| {
        let named = std::env::var_os(ACCOUNTS_VARIABLE).filter(|path| !path.is_empty());
        named.map_or(Ok(None), |path| read_accounts(Path::new(&path)))
    });
    let set = ACCOUNTS.read().unwrap_or_else(PoisonError::into_inner).clone();
    if set.is_some() { Ok(set) } else { NAMED.clone() }
}

/// Returns the accounts of a file; `None` where the file does not exist.
fn read_accounts(path: &Path) -> Result<Option<Arc<dyn Accounts>>> {
    let Some(text) = plain_file::read(path, Readers::Owner)? else { return Ok(None) };
    let table: AccountTable = text.parse().map_err(|error: BadAccounts| plain_file::about(path, error))?;
    Ok(Some(Arc::new(table)))
}

/// Whether this process can authenticate its clients.
pub(crate) fn has_accounts() -> bool {
    accounts().is_ok_and(|accounts| accounts.is_some())
}
