//! The credentials of this process, the accounts that may call it, and the callers.

use crate::outcome::{Bytes, give, give_bytes, guarded, text};
use com::security::{
    AccountTable, Caller, Credential, Credentials, NtHash, Peer, set_accounts, set_credentials, with_credentials,
};
use com::{HRESULT, Result, code};
use std::ffi::c_char;
use std::sync::Arc;

/// Credentials for particular connections, in place of the credentials of the process.
pub struct Shown(Arc<dyn Credentials>);

/// # Safety
///
/// Each string must be null or NUL-terminated.
unsafe fn credential(domain: *const c_char, user: *const c_char, password: *const c_char) -> Result<Credential> {
    // SAFETY: the caller's promise.
    let domain = unsafe { text(domain) }?;
    // SAFETY: the caller's promise.
    let user = unsafe { text(user) }?;
    // SAFETY: the caller's promise.
    let password = unsafe { text(password) }?;
    Ok(Credential::user(domain, user, password))
}

/// Sets the credentials of this process.
///
/// # Safety
///
/// Each string must be null or NUL-terminated.
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

/// Creates credentials for particular connections. They are never freed, as later connections use
/// them as well.
///
/// # Safety
///
/// Each string must be null or NUL-terminated, and `shown` must be null or writable.
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

/// Runs `work`. Connections that `work` makes use the credentials `shown`, or the credentials of
/// the process if `shown` is null.
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

/// Sets the accounts that may call this process: `count` pairs of a user and a password.
///
/// # Safety
///
/// `accounts` must refer to twice `count` strings, each null or NUL-terminated.
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

/// The caller of a method, without the names of its host, domain and user.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Who {
    /// The process ID of a caller on this host, as the kernel reports it; otherwise 0.
    pub(crate) process: u32,
    /// The protection of the call (RPC_C_AUTHN_LEVEL); 1 means none.
    pub(crate) level: u32,
}

/// Returns the description of a caller for Java: the process and the level, and the host, the
/// domain and the user in UTF-8, each NUL-terminated.
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

/// Returns the caller of the method that this thread performs; S_FALSE if this thread performs no
/// call of another process.
///
/// # Safety
///
/// `place` must be null or writable, and `words` must meet the conditions of [`give_bytes`].
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

/// Whether the caller of the method that this thread performs is a process of this process's user:
/// 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_is_own_user() -> u32 {
    crate::outcome::guarded_or(0, || com::abi::is_own_user().into())
}
