//! The words that callers get of a method that panicked, or threw what it has not declared.

use super::{Error, code, leave};
use crate::server::caller;
use obvia_via::window::Peer;
use std::any::Any;
use std::sync::atomic::{AtomicU8, Ordering};
use windows_core::HRESULT;

/// Whether callers are told: [`UNSAID`], or a `bool`.
static ARE_TOLD: AtomicU8 = AtomicU8::new(UNSAID);
/// Nobody has said whether: it depends on how the code was compiled that fails.
const UNSAID: u8 = 2;

/// Says whether callers are told the texts of panics, and not only that a method panicked (E_UNEXPECTED). By default they are told in programs built with
/// debug assertions. Processes of other users and on other hosts are never told: a text may contain values that are not theirs.
pub fn set_panic_texts(are_told: bool) {
    ARE_TOLD.store(are_told.into(), Ordering::Relaxed);
}

/// A method has panicked with this.
#[cold]
#[inline(never)]
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> HRESULT {
    let text = text_of(&*payload).filter(|_| may_tell(cfg!(debug_assertions)));
    let error = match text {
        Some(text) => Error::new(code::E_UNEXPECTED, format!("the method panicked: {text}")),
        None => code::E_UNEXPECTED.into(),
    };
    // A payload whose own drop panics must not unwind into the caller either.
    std::mem::forget(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(payload))));
    leave(error)
}

fn text_of(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str))
}

/// Whether the caller may be told the text of a failure that nobody has declared; `by_default` where nobody has said so.
fn may_tell(by_default: bool) -> bool {
    let said = ARE_TOLD.load(Ordering::Relaxed);
    (if said == UNSAID { by_default } else { said != 0 }) && is_own_user()
}

/// A method in another language has thrown what it has not declared. Its caller gets the text as that of a panic.
pub fn unforeseen(result: HRESULT, text: &str, by_default: bool) -> HRESULT {
    leave(if may_tell(by_default) { Error::new(result, text) } else { result.into() })
}

/// True where the caller is this process, or another one of the same user.
pub fn is_own_user() -> bool {
    let own = rustix::process::geteuid().as_raw();
    caller().is_none_or(|caller| matches!(caller.peer, Peer::Process { uid, .. } if uid == own))
}
