//! Credentials, accounts and callers: obvia.h.

use crate::errors::{guarded, text};
use com::security::{AccountTable, Caller, Credential, NtHash, Peer, set_accounts, set_credentials};
use com::{HRESULT, Result, abi, code};
use std::ffi::{CString, c_char};
use std::ptr;

/// `obvia_account` in obvia.h.
#[repr(C)]
pub struct Account {
    user: *const c_char,
    password: *const c_char,
}

/// `obvia_caller` in obvia.h.
#[repr(C)]
pub struct CallerInfo {
    process: u32,
    uid: u32,
    level: i32,
    host: *mut c_char,
    domain: *mut c_char,
    user: *mut c_char,
}

/// `OBVIA_SECURITY_NONE` in obvia.h: RPC_C_AUTHN_LEVEL_NONE (MS-RPCE 2.2.1.1.8).
const NO_SECURITY: i32 = 1;

/// `obvia_set_credentials` in obvia.h.
///
/// # Safety
///
/// Each string must be null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_credentials(
    domain: *const c_char,
    user: *const c_char,
    password: *const c_char,
) -> HRESULT {
    guarded(|| {
        let domain = if domain.is_null() { c"".as_ptr() } else { domain };
        // SAFETY: the caller's promise.
        let domain = unsafe { text(domain) }?;
        // SAFETY: the caller's promise.
        let user = unsafe { text(user) }?;
        // SAFETY: the caller's promise.
        let password = unsafe { text(password) }?;
        set_credentials(Credential::user(domain, user, password));
        Ok(())
    })
}

/// `obvia_set_accounts` in obvia.h.
///
/// # Safety
///
/// `accounts` must lead to `count` accounts, or be null for none, and each of their strings must be
/// null or end in NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_accounts(accounts: *const Account, count: usize) -> HRESULT {
    guarded(|| {
        if accounts.is_null() && count > 0 {
            return Err(code::E_POINTER.into());
        }
        let mut table = AccountTable::default();
        for at in 0..count {
            // SAFETY: the caller's promise: `at` is less than the number of accounts.
            let account = unsafe { accounts.add(at) };
            // SAFETY: as above.
            let account = unsafe { account.read() };
            // SAFETY: the caller's promise.
            let user = unsafe { text(account.user) }?;
            // SAFETY: the caller's promise.
            let password = unsafe { text(account.password) }?;
            table = table.with(user, NtHash::of_password(password));
        }
        set_accounts(table);
        Ok(())
    })
}

/// Copies a text to memory of the C library for the program.
fn given(text: String) -> Result<*mut c_char> {
    let text = abi::give_text(CString::new(text)?);
    if text.is_null() { Err(code::E_OUTOFMEMORY.into()) } else { Ok(text.cast()) }
}

impl CallerInfo {
    pub(crate) const NOBODY: Self = Self {
        process: 0,
        uid: Peer::NOBODY,
        level: NO_SECURITY,
        host: ptr::null_mut(),
        domain: ptr::null_mut(),
        user: ptr::null_mut(),
    };

    pub(crate) fn fill(&mut self, caller: Option<Caller>) -> Result<()> {
        let Some(Caller { peer, authenticated, .. }) = caller else {
            (self.process, self.uid) = (std::process::id(), abi::own_user());
            return Ok(());
        };
        match peer {
            Peer::Process { pid, uid, .. } => (self.process, self.uid) = (pid, uid),
            Peer::Host(host) => self.host = given(host)?,
        }
        if let Some(authenticated) = authenticated {
            self.level = authenticated.level as i32;
            self.domain = given(authenticated.principal.domain.clone())?;
            self.user = given(authenticated.principal.user.clone())?;
        }
        Ok(())
    }
}

/// `obvia_get_caller` in obvia.h.
///
/// # Safety
///
/// `caller` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_get_caller(caller: *mut CallerInfo) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise; the former contents are not read.
        let place = unsafe { caller.cast::<std::mem::MaybeUninit<CallerInfo>>().as_mut() }.ok_or(code::E_POINTER)?;
        let info = place.write(CallerInfo::NOBODY);
        info.fill(com::caller()).inspect_err(|_| info.clear())
    })
}

impl CallerInfo {
    /// Frees the strings.
    pub(crate) fn clear(&mut self) {
        for text in [&mut self.host, &mut self.domain, &mut self.user] {
            let text = std::mem::replace(text, ptr::null_mut());
            // SAFETY: `text` is null or from the C library's allocator, and is not used again.
            unsafe { abi::release(text.cast()) };
        }
    }
}

/// `obvia_clear_caller` in obvia.h.
///
/// # Safety
///
/// `caller` must be null, or filled by [`obvia_get_caller`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_clear_caller(caller: *mut CallerInfo) {
    // SAFETY: the caller's promise.
    if let Some(caller) = unsafe { caller.as_mut() } {
        caller.clear();
    }
}
