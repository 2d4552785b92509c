//! The error texts of methods that panicked, or that threw an undeclared exception.

use super::{Error, Result, code, is_own_user, leave, recall};
use std::any::Any;
use std::sync::atomic::{AtomicU8, Ordering};
use windows_core::HRESULT;

/// Whether callers receive the texts: 0 or 1, or [`UNSAID`].
static ARE_TOLD: AtomicU8 = AtomicU8::new(UNSAID);
/// The value of [`ARE_TOLD`] while the program has not chosen. The default then depends on how the
/// failing code was compiled.
const UNSAID: u8 = 2;

/// Chooses whether callers receive the texts of panics, and of undeclared exceptions in other
/// languages, in addition to the HRESULT, which is E_UNEXPECTED for a panic. By default callers
/// receive the texts of panics in programs that are built with debug assertions. Processes of other
/// users and on other hosts never receive a text, since a text may contain confidential values.
pub fn set_panic_texts(are_told: bool) {
    ARE_TOLD.store(are_told.into(), Ordering::Relaxed);
}

/// Converts the payload of a method's panic into an HRESULT, and leaves the text for the caller.
#[cold]
#[inline(never)]
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> HRESULT {
    let text = text_of(&*payload).filter(|_| may_tell(cfg!(debug_assertions)));
    let error = match text {
        Some(text) => Error::new(code::E_UNEXPECTED, format!("the method panicked: {text}")),
        None => code::E_UNEXPECTED.into(),
    };
    // The drop of the payload can panic, too, and must not unwind into the caller either.
    std::mem::forget(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))));
    leave(error)
}

fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Whether the caller may receive the text of an undeclared failure; `by_default` where the program
/// has not chosen.
fn may_tell(by_default: bool) -> bool {
    let said = ARE_TOLD.load(Ordering::Relaxed);
    (if said == UNSAID { by_default } else { said != 0 }) && is_own_user()
}

/// Leaves the error of a method in another language that threw an undeclared exception. The caller
/// gets the text if [`crate::set_panic_texts`] permits; `by_default` applies where the program has
/// not chosen.
pub fn unforeseen(result: HRESULT, text: &str, by_default: bool) -> HRESULT {
    leave(if may_tell(by_default) { Error::new(result, text) } else { result.into() })
}

/// Runs a method's body and converts a panic to E_UNEXPECTED, with the text if
/// [`crate::set_panic_texts`] permits. A panic must not unwind into the caller, which may be in
/// another language.
#[inline]
pub fn guard(method: impl FnOnce() -> HRESULT) -> HRESULT {
    // The object itself is responsible for its state after a panic, as with a poisoned lock.
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(method)).unwrap_or_else(panicked)
}

/// Runs a function of the program, and converts a panic to the error E_UNEXPECTED, as [`guard`]
/// does.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    outcome.unwrap_or_else(|payload| Err(recall(panicked(payload))))
}
