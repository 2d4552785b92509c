//! Access rules that Java evaluates, for calls of this process's objects and for the creation of
//! objects.

use crate::classes::class_of;
use crate::halves::Halves;
use crate::handles::{Handle, get};
use crate::objects::callbacks;
use crate::outcome::guarded;
use crate::security::told;
use com::security::{
    Access, Caller, clear_access, set_access, set_class_access, set_default_access, set_default_class_access,
};
use com::{HRESULT, code};

/// An access rule that Java evaluates. Java finds the rule by this number.
struct Rule(u64);

impl Access for Rule {
    fn permits(&self, caller: &Caller) -> bool {
        let (who, words) = told(caller);
        let (first, length) = (words.as_ptr(), words.len());
        // SAFETY: `permits` is a function of Java. The bytes that it reads outlive the call.
        callbacks().is_ok_and(|java| unsafe { (java.permits)(self.0, who.process, who.level, first, length) } != 0)
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        if let Ok(java) = callbacks() {
            // SAFETY: `drop_rule` is a function of Java that accepts the number of any rule.
            unsafe { (java.drop_rule)(self.0) };
        }
    }
}

/// Sets the access rule of an object, or the default rule if `object` is 0. Rule 0 removes an
/// object's rule.
#[unsafe(no_mangle)]
pub extern "C" fn obvia_java_set_access(object: Handle, rule: u64) -> HRESULT {
    guarded(|| {
        match (object, rule) {
            (0, 0) => return Err(code::E_INVALIDARG.into()),
            (0, rule) => set_default_access(Rule(rule))?,
            (object, 0) => clear_access(&get(object)?)?,
            (object, rule) => set_access(&get(object)?, Rule(rule))?,
        }
        Ok(code::S_OK)
    })
}

/// Sets the access rule of a class, or the default rule if `class` is null.
///
/// # Safety
///
/// `class` must be null or readable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_java_set_class_access(class: *const Halves, rule: u64) -> HRESULT {
    guarded(|| {
        if class.is_null() {
            set_default_class_access(Rule(rule))?;
        } else {
            // SAFETY: the caller's promise.
            set_class_access(unsafe { class_of(class) }?, Rule(rule))?;
        }
        Ok(code::S_OK)
    })
}
