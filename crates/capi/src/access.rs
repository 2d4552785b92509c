//! Access rules and the audit of refused callers: obvia.h.

use crate::errors::guarded;
use crate::security::CallerInfo;
use com::security::{Access, Caller, admit_other_users, clear_access, set_access, set_audit, set_default_access};
use com::{HRESULT, IUnknown, Interface as _, Result, code};
use std::ffi::{CString, c_char, c_int, c_void};

/// A function of the program, the context for its calls, and the function that releases the
/// context.
struct Function<F> {
    function: F,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
}

// SAFETY: the program promises that any thread may use the function and its context.
unsafe impl<F> Send for Function<F> {}
// SAFETY: as above.
unsafe impl<F> Sync for Function<F> {}

impl<F> Drop for Function<F> {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: the program promised that the function may be called once with the context.
            unsafe { release(self.context) };
        }
    }
}

type Permits = unsafe extern "C" fn(context: *mut c_void, caller: *const CallerInfo) -> c_int;
type Audit = unsafe extern "C" fn(context: *mut c_void, line: *const c_char);

/// `obvia_callers` in obvia.h.
#[repr(C)]
pub struct Callers {
    permits: Option<Permits>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
}

impl Access for Function<Option<Permits>> {
    fn permits(&self, caller: &Caller) -> bool {
        let mut info = CallerInfo::NOBODY;
        let function = self.function.filter(|_| info.fill(Some(caller.clone())).is_ok());
        // SAFETY: the program promised that any thread may call the rule's function with its
        // context.
        let is_permitted = function.is_some_and(|permits| unsafe { permits(self.context, &raw const info) } != 0);
        info.clear();
        is_permitted
    }
}

/// Takes a rule from the program.
///
/// # Safety
///
/// `access` must be null or a rule. Any thread must be able to call the rule's function with the
/// rule's context until the context is released.
unsafe fn rule(access: *const Callers) -> Result<impl Access> {
    // SAFETY: the caller's promise.
    let callers = unsafe { access.as_ref() };
    let &Callers { permits, context, release } = callers.ok_or(code::E_POINTER)?;
    let rule = Function { function: permits, context, release };
    if permits.is_some() { Ok(rule) } else { Err(code::E_POINTER.into()) }
}

/// `obvia_set_access` in obvia.h.
///
/// # Safety
///
/// `object` must be null or an interface pointer, and `access` must be null or a rule. Any thread
/// must be able to call the rule's function with its context until the context is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_access(object: *mut c_void, access: *const Callers) -> HRESULT {
    guarded(|| {
        // SAFETY: the caller's promise.
        let rule = (!access.is_null()).then(|| unsafe { rule(access) }).transpose()?;
        // SAFETY: the caller's promise.
        let object = unsafe { IUnknown::from_raw_borrowed(&object) }.ok_or(code::E_POINTER)?;
        match rule {
            Some(rule) => set_access(object, rule),
            None => clear_access(object),
        }
    })
}

/// `obvia_set_default_access` in obvia.h.
///
/// # Safety
///
/// `access` must be null or a rule. Any thread must be able to call the rule's function with the
/// rule's context until the context is released.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_default_access(access: *const Callers) -> HRESULT {
    // SAFETY: the caller's promise.
    guarded(|| set_default_access(unsafe { rule(access) }?))
}

/// `obvia_admit_other_users` in obvia.h.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_admit_other_users() -> HRESULT {
    guarded(admit_other_users)
}

impl Function<Option<Audit>> {
    fn tell(&self, line: String) {
        // A refusal's line has no control characters, so the conversion succeeds.
        if let (Some(audit), Ok(line)) = (self.function, CString::new(line)) {
            // SAFETY: the program promised that any thread may call the function with its context.
            unsafe { audit(self.context, line.as_ptr()) };
        }
    }
}

/// `obvia_set_audit` in obvia.h.
///
/// # Safety
///
/// Any thread must be able to call `audit` with `context`, until `release` is called with
/// `context`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_set_audit(
    audit: Option<Audit>,
    context: *mut c_void,
    release: Option<unsafe extern "C" fn(context: *mut c_void)>,
) -> HRESULT {
    guarded(|| {
        let audit = Function { function: audit, context, release };
        audit.function.ok_or(code::E_POINTER)?;
        set_audit(move |refusal| audit.tell(refusal.to_string()));
        Ok(())
    })
}
