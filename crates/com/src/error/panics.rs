//! The words that callers get of a method that panicked.

use super::{Error, code, leave};
use crate::server::caller;
use obvia_via::window::Peer;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use windows_core::HRESULT;

static ARE_TOLD: AtomicBool = AtomicBool::new(cfg!(debug_assertions));

/// Says whether callers are told the texts of panics, and not only that a method panicked (E_UNEXPECTED). By default they are told in programs built with
/// debug assertions. Processes of other users and on other hosts are never told: a text may contain values that are not theirs.
pub fn set_panic_texts(are_told: bool) {
    ARE_TOLD.store(are_told, Ordering::Relaxed);
}

/// A method has panicked with this.
#[cold]
#[inline(never)]
pub(crate) fn panicked(payload: Box<dyn Any + Send>) -> HRESULT {
    let text = text_of(&*payload).filter(|_| ARE_TOLD.load(Ordering::Relaxed) && is_own_user());
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

/// True where the caller is this process, or another one of the same user.
fn is_own_user() -> bool {
    let own = rustix::process::geteuid().as_raw();
    caller().is_none_or(|caller| matches!(caller.peer, Peer::Process { uid, .. } if uid == own))
}
