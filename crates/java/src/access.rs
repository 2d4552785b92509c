//! Who may call objects of this process, and who may have them made: by rules of Java's.

use crate::classes::class_of;
use crate::handles::{Handle, get};
use crate::interfaces::Halves;
use crate::objects::callbacks;
use crate::outcome::guarded;
use crate::security::told;
use com::security::{
    Access, Caller, clear_access, set_access, set_class_access, set_default_access, set_default_class_access,
};
use com::{HRESULT, code};

/// A rule of Java's, by its number there.
struct Rule(u64);

impl Access for Rule {
    fn permits(&self, caller: &Caller) -> bool {
        let (who, words) = told(caller);
        let (first, length) = (words.as_ptr(), words.len());
        // SAFETY: Java's function; the words stay for the call.
        callbacks().is_ok_and(|java| unsafe { (java.permits)(self.0, who.process, who.level, first, length) } != 0)
    }
}

impl Drop for Rule {
    fn drop(&mut self) {
        if let Ok(java) = callbacks() {
            // SAFETY: Java's function.
            unsafe { (java.drop_rule)(self.0) };
        }
    }
}

/// Says by which rule an object may be called, or those that have none of their own, where `object` is 0. Rule 0 takes an object's back.
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

/// Says by which rule objects of a class may be made, or of those classes that have none of their own, where `class` is null.
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
