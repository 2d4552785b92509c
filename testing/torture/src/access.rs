//! Orders about who may call, and what is said of those who may not.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done, word};
use crate::bell::{Bell, Bell_Impl};
use crate::state::{CLASS, State};
use obvia::code;
use obvia::security::{
    Access, Callers, Level, admit_other_users, clear_access, set_access, set_audit, set_class_access,
    set_default_access, set_default_class_access,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use windows_core::implement;

/// Functions, and how often they rang.
#[implement(Bell)]
struct Tower(AtomicU32);

impl Bell_Impl for Tower_Impl {
    fn Ring(&self, times: u32) -> obvia::Result<u32> {
        Ok(self.0.fetch_add(times, Ordering::SeqCst) + times)
    }
}

/// Has functions performed, for those callers who are named.
pub(crate) fn perform(state: &mut State, words: &[&str]) -> Answer {
    let tower = Bell::from(Tower(AtomicU32::new(0)));
    set_access(&tower, callers(words)?)?;
    state.tower = Some((tower.clone(), obvia::serve_interface(tower)?));
    done(())
}

/// Says anew who may call the functions.
pub(crate) fn guard(state: &State, words: &[&str]) -> Answer {
    let (tower, _) = state.tower.as_ref().ok_or(code::E_POINTER)?;
    done(set_access(tower, callers(words)?)?)
}

/// Binds to such functions.
pub(crate) fn bind(state: &mut State, words: &[&str]) -> Answer {
    done(state.bell = Some(obvia::bind(word(words, 0)?)?))
}

/// Calls one of them.
pub(crate) fn ring(state: &State, words: &[&str]) -> Answer {
    let bell = state.bell.as_ref().ok_or(code::E_POINTER)?;
    Ok(bell.Ring(word(words, 0)?.parse().map_err(|_| code::E_INVALIDARG)?)?.to_string())
}

/// The lines about callers that were refused.
static REFUSALS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Makes a rule for what the first word says of the callers that the others name, or takes it back.
pub(crate) fn set(state: &State, words: &[&str]) -> Answer {
    let exported = state.exported.as_ref().ok_or(code::E_POINTER);
    let callers = || callers(&words[1..]);
    done(match word(words, 0)? {
        "exported" if words.len() == 1 => clear_access(exported?)?,
        "exported" => set_access(exported?, callers()?)?,
        "all" => set_default_access(callers()?)?,
        "class" => set_class_access(CLASS, callers()?)?,
        "classes" => set_default_class_access(callers()?)?,
        "users" => admit_other_users()?,
        _ => return Err(code::E_INVALIDARG.into()),
    })
}

fn callers(words: &[&str]) -> obvia::Result<impl Access + use<>> {
    words.iter().try_fold(Callers::nobody(), |callers, word| {
        let mut parts = word.split('=');
        let (kind, value) = (parts.next(), parts.next().unwrap_or_default());
        Ok(match kind {
            Some("nobody") => callers,
            Some("everybody") => Callers::everybody(),
            Some("own") => callers.with_own_user(),
            Some("user") => callers.with_user(value.parse().map_err(|_| code::E_INVALIDARG)?),
            Some("host") => callers.with_host(value),
            Some(level) => callers.with_account(value, Level::named(level).ok_or(code::E_INVALIDARG)?),
            None => return Err(code::E_INVALIDARG.into()),
        })
    })
}

/// Has refusals kept for [`refusals`].
pub(crate) fn audit() -> Answer {
    done(set_audit(|refusal| REFUSALS.lock().unwrap().push(refusal.to_string())))
}

/// What was refused since this was asked last, without the times.
pub(crate) fn refusals() -> Answer {
    let lines = std::mem::take(&mut *REFUSALS.lock().unwrap());
    let without_time = |line: String| line.split_once(' ').map(|(_, rest)| rest.to_owned());
    Ok(lines.into_iter().filter_map(without_time).collect::<Vec<_>>().join("; "))
}
