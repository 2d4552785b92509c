//! Security of calls: who calls, and who may; over networks and `ncalrpc` the credentials that this process shows to others, and the
//! accounts that it checks others' against.
//!
//! A client says in a binding how its calls are to be protected, `ncacn_ip_tcp:host[port,security=privacy]`, and a server in what it
//! [listens](crate::listen) on how they have to be at least. `docs/security-of-calls.md` has the whole.
//!
//! Who may call which object of those who get through to this process, or have objects made, is said by [rules](set_access).

mod access;
mod audit;

use crate::error::{Error, Result, code};
use crate::plain_file::{self, Readers};
use crate::server;
use obvia_rpc::security::context::{NtlmAcceptor, initiate};
use obvia_rpc::security::ntlm::ServerNames;
use obvia_rpc::security::proof::{CONTEXT_LEVEL, Prover};
use obvia_rpc::security::{Acceptor, Security};
use std::cell::RefCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

pub use access::{
    Access, Callers, admit_other_users, clear_access, set_access, set_class_access, set_default_access,
    set_default_class_access,
};
pub(crate) use access::{Admitted, Rules, log_refused_class};
pub(crate) use audit::log_denial;
pub use audit::{Refusal, Refused, set_audit};
pub use obvia_rpc::security::credentials::{AccountTable, Accounts, BadAccounts, Credential, Credentials};
pub use obvia_rpc::security::{AuthType, Authenticated, Level, NtHash, Principal};
pub use obvia_via::window::Peer;

/// The environment variable with the file that has the accounts of a process which [sets](set_accounts) none: lines `USER = HASH`, as
/// [`AccountTable`] reads them.
pub const ACCOUNTS_VARIABLE: &str = "OBVIA_ACCOUNTS";

static CREDENTIALS: RwLock<Option<Shown>> = RwLock::new(None);

thread_local! {
    /// Those of [`with_credentials`].
    static OF_THREAD: RefCell<Option<Shown>> = const { RefCell::new(None) };
}

static ACCOUNTS: RwLock<Option<Arc<dyn Accounts>>> = RwLock::new(None);

/// Says whose credentials this process shows to servers by bindings that ask for [security](crate::listen), from now on. What it is
/// connected to already keeps those that it was connected with.
///
/// A [`Credential`] is itself one for every server; whoever has several, or does not want to show one to whoever a reference leads to,
/// decides by the server's principal name: `host/` and its address, unless the binding says another by `spn`.
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
    *CREDENTIALS.write().unwrap_or_else(PoisonError::into_inner) = Some(Shown(Arc::new(credentials)));
}

/// Runs `work`, whose connections show these credentials instead of [this process's](set_credentials): those that this thread makes. What is
/// connected with them keeps them, and is nobody else's connection: those that show other ones have their own.
pub fn with_credentials<R>(credentials: &Arc<dyn Credentials>, work: impl FnOnce() -> R) -> R {
    /// Puts back what was there, also where `work` panics.
    struct Former(Option<Shown>);

    impl Drop for Former {
        fn drop(&mut self) {
            let _ = OF_THREAD.try_with(|own| own.replace(self.0.take()));
        }
    }

    let shown = Shown(Arc::clone(credentials));
    let _former = Former(OF_THREAD.try_with(|own| own.replace(Some(shown))).ok().flatten());
    work()
}

/// Says who may call this process where it is authenticated, from the next connection on. Where nobody says so, it is who has an account in the
/// file that [the environment](ACCOUNTS_VARIABLE) names.
///
/// Without accounts nobody is. With them, every client over a stream or a network's virtual interface may authenticate itself; that it must, and at which level at least,
/// says the option `security` of what this process [listens](crate::listen) on.
pub fn set_accounts(accounts: impl Accounts + 'static) {
    *ACCOUNTS.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(accounts));
}

/// Who called a method.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// The process, where it is one of this host and the kernel told which; else the host, by its address.
    pub peer: Peer,
    /// Who it has proved to be, and how the call was protected. `None` where nobody asked: over shared memory and datagrams, and
    /// where neither side wanted security.
    pub authenticated: Option<Authenticated>,
}

/// Who called the method that runs on this thread. `None` where none does that was called from another process: calls within the process
/// change nothing.
pub fn caller() -> Option<Caller> {
    server::caller().map(|caller| caller.shown())
}

/// Credentials, the same only with themselves.
#[derive(Clone)]
struct Shown(Arc<dyn Credentials>);

impl Shown {
    fn address(&self) -> *const () {
        Arc::as_ptr(&self.0).cast()
    }
}

impl PartialEq for Shown {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Shown {}

impl Hash for Shown {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address().hash(state);
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// How a client protects its calls of one other process, on each connection to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Protection {
    level: Level,
    kind: AuthType,
    principal: String,
    credentials: Shown,
}

impl Protection {
    /// Protection by the credentials that this process has.
    ///
    /// # Errors
    ///
    /// E_ACCESSDENIED where it has none.
    pub(crate) fn new(level: Level, kind: AuthType, principal: String) -> Result<Self> {
        let of_process = || CREDENTIALS.read().unwrap_or_else(PoisonError::into_inner).clone();
        let credentials =
            OF_THREAD.try_with(|own| own.borrow().clone()).ok().flatten().or_else(of_process).ok_or_else(|| {
                let text =
                    format!("security={level} is asked for, and this process has no credentials: see set_credentials");
                Error::new(code::E_ACCESSDENIED, text)
            })?;
        Ok(Self { level, kind, principal, credentials })
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// A security context for a new association.
    pub(crate) fn begin(&self) -> Result<Security> {
        self.begin_at(self.level)
    }

    /// A proof of who this process is, to a server that was called at a place.
    pub(crate) fn prove(&self, place: &str) -> Result<Prover> {
        Ok(Prover::new(self.begin_at(CONTEXT_LEVEL)?, self.level, place))
    }

    fn begin_at(&self, level: Level) -> Result<Security> {
        let Self { kind, principal, credentials, .. } = self;
        initiate(*kind, level, principal, &*credentials.0).map_err(|why| {
            let text = format!("there are no credentials for {principal}: {why}");
            Error::new(code::E_ACCESSDENIED, text)
        })
    }
}

/// What authenticates clients of this process, if it has accounts.
pub(crate) fn acceptor() -> Option<Arc<dyn Acceptor>> {
    let accounts = accounts().ok()??;
    // What NTLM calls the server is for the client's eyes alone: without a name, it is one of no name.
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    Some(Arc::new(NtlmAcceptor::new(ServerNames::of_host(host.trim_end()), accounts)))
}

/// The accounts of this process: those that it has set, or else those of the file that its environment names.
///
/// # Errors
///
/// What is wrong with the file.
pub(crate) fn accounts() -> Result<Option<Arc<dyn Accounts>>> {
    static NAMED: LazyLock<Result<Option<Arc<dyn Accounts>>>> = LazyLock::new(|| {
        let named = std::env::var_os(ACCOUNTS_VARIABLE).filter(|path| !path.is_empty());
        named.map_or(Ok(None), |path| read_accounts(Path::new(&path)))
    });
    let set = ACCOUNTS.read().unwrap_or_else(PoisonError::into_inner).clone();
    if set.is_some() { Ok(set) } else { NAMED.clone() }
}

/// The accounts of a file; none where it is not there.
fn read_accounts(path: &Path) -> Result<Option<Arc<dyn Accounts>>> {
    let Some(text) = plain_file::read(path, Readers::Owner)? else { return Ok(None) };
    let table: AccountTable = text.parse().map_err(|error: BadAccounts| plain_file::about(path, error))?;
    Ok(Some(Arc::new(table)))
}

/// Whether this process can authenticate its clients.
pub(crate) fn has_accounts() -> bool {
    accounts().is_ok_and(|accounts| accounts.is_some())
}
