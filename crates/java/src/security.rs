//! Who this process is to others, who others are to it, and who calls.

use crate::outcome::{Bytes, give, give_bytes, guarded, text};
use com::security::{
    AccountTable, Caller, Credential, Credentials, NtHash, Peer, set_accounts, set_credentials, with_credentials,
};
use com::{HRESULT, Result, code};
use std::ffi::c_char;
use std::sync::Arc;

/// Credentials for some connections.
pub struct Shown(Arc<dyn Credentials>);

/// # Safety
///
/// Each string must be null or end in NUL.
unsafe fn credential(domain: *const c_char, user: *const c_char, password: *const c_char) -> Result<Credential> {
    // SAFETY: the caller's promise.
    let domain = unsafe { text(domain) }?;
    // SAFETY: the caller's promise.
    let user = unsafe { text(user) }?;
    // SAFETY: the caller's promise.
    let password = unsafe { text(password) }?;
    Ok(Credential::user(domain, user, password))
}

/// Says whose credentials this process shows.
///
/// # Safety
///
/// Each string must be null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_set_credentials(
    domain: *const c_char,
    user: *const c_char,
    password: *const c_char,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        set_credentials(unsafe { credential(domain, user, password) }?);
        Ok(code::S_OK)
    })
}

/// Makes credentials for some connections. They are kept: whoever has shown them shows them again.
///
/// # Safety
///
/// Each string must be null or end in NUL, and `shown` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_credentials(
    domain: *const c_char,
    user: *const c_char,
    password: *const c_char,
    shown: *mut *mut Shown,
) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let made = Box::new(Shown(Arc::new(unsafe { credential(domain, user, password) }?)));
        // SAFETY: the caller's promise.
        unsafe { give(shown, Box::into_raw(made)) }
    })
}

/// Runs what connects, by credentials of its own where there are any.
///
/// # Safety
///
/// `shown` must be null or come from [`obvia_java_credentials`].
pub(crate) unsafe fn showing<R>(shown: *const Shown, work: impl FnOnce() -> R) -> R {
    // SAFETY: the caller's promise.
    match unsafe { shown.as_ref() } {
        Some(shown) => with_credentials(&shown.0, work),
        None => work(),
    }
}

/// Says who may call this process: so many users, and the password of each behind it.
///
/// # Safety
///
/// `accounts` must lead to twice as many strings, each null or with a NUL at its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_set_accounts(accounts: *const *const c_char, count: usize) -> HRESULT {
    guarded(|| {
        let mut table = AccountTable::default();
        for at in 0..count {
            // SAFETY: the caller's promise.
            let account = unsafe { accounts.cast::<[*const c_char; 2]>().add(at) };
            // SAFETY: as above.
            let [user, password] = unsafe { account.read() };
            // SAFETY: the caller's promise.
            let user = unsafe { text(user) }?;
            // SAFETY: the caller's promise.
            table = table.with(user, NtHash::of_password(unsafe { text(password) }?));
        }
        set_accounts(table);
        Ok(code::S_OK)
    })
}

/// Who called a method, besides names.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Who {
    /// The process where it is one of this host and the kernel told which, or 0.
    pub(crate) process: u32,
    /// How the call is protected (RPC_C_AUTHN_LEVEL); 1 is not at all.
    pub(crate) level: u32,
}

/// What Java is told of a caller: the host, the domain and the user in UTF-8, with a NUL behind each, besides who it is otherwise.
pub(crate) fn told(caller: &Caller) -> (Who, Vec<u8>) {
    let (process, host) = match &caller.peer {
        Peer::Process { pid, .. } => (*pid, ""),
        Peer::Host(host) => (0, host.as_str()),
    };
    let who = caller.authenticated.as_ref();
    let level = who.map_or(1, |who| who.level as u32);
    let (domain, user) = who.map_or(("", ""), |who| (&*who.principal.domain, &*who.principal.user));
    (Who { process, level }, format!("{host}\0{domain}\0{user}\0").into_bytes())
}

/// Who called the method that this thread performs. S_FALSE where no method runs that another process has called.
///
/// # Safety
///
/// `place` must be null or writable, and `words` as [`give_bytes`] has it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_caller(place: *mut Who, words: *mut Bytes) -> HRESULT {
    guarded(|| {
        let Some(caller) = com::caller() else { return Ok(code::S_FALSE) };
        let (who, told) = told(&caller);
        // SAFETY: the caller's promise.
        unsafe { give_bytes(words, told) }?;
        // SAFETY: the caller's promise.
        unsafe { give(place, who) }
    })
}

/// Whether the caller of the method that this thread performs is a process of this process's user: 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_is_own_user() -> u32 {
    crate::outcome::guarded_or(0, || com::abi::is_own_user().into())
}
