//! The orders of tests (see `orders`) about access control, and about the audit of refusals.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done, word};
use crate::state::{CLASS, State};
use crate::tally::{Tally, Tally_Impl};
use obvia::code;
use obvia::security::{
    Access, Callers, Level, admit_other_users, clear_access, set_access, set_audit, set_class_access,
    set_default_access, set_default_class_access,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The implementation of the functions, with the total so far.
#[obvia::object(Tally)]
struct TallyServer(AtomicU32);

impl Tally_Impl for TallyServer_Impl {
    fn Add(&self, number: u32) -> obvia::Result<u32> {
        Ok(self.0.fetch_add(number, Ordering::SeqCst) + number)
    }
}

/// Serves the functions. Only the named callers may call them.
pub(crate) fn serve_tally(state: &mut State, words: &[&str]) -> Answer {
    let tally = Tally::from(TallyServer(AtomicU32::new(0)));
    set_access(&tally, callers(words)?)?;
    state.served_tally = Some((tally.clone(), obvia::serve_interface(tally)?));
    done(())
}

/// Sets the callers that may call the functions.
pub(crate) fn set_tally_access(state: &State, words: &[&str]) -> Answer {
    let (tally, _) = state.served_tally.as_ref().ok_or(code::E_POINTER)?;
    done(set_access(tally, callers(words)?)?)
}

/// Binds to the functions of another process.
pub(crate) fn bind_tally(state: &mut State, words: &[&str]) -> Answer {
    done(state.bound_tally = Some(obvia::bind(word(words, 0)?)?))
}

/// Calls the bound functions.
pub(crate) fn add_to_tally(state: &State, words: &[&str]) -> Answer {
    let tally = state.bound_tally.as_ref().ok_or(code::E_POINTER)?;
    Ok(tally.Add(word(words, 0)?.parse().map_err(|_| code::E_INVALIDARG)?)?.to_string())
}

/// The audit lines of refused callers.
static REFUSALS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Sets or clears the access rule of the target in the first word: the exported object, all
/// objects, the class, or all classes. The other words name the callers. The word `users` admits
/// other users.
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

/// Records refusals for [`refusals`].
pub(crate) fn audit() -> Answer {
    done(set_audit(|refusal| REFUSALS.lock().unwrap().push(refusal.to_string())))
}

/// Returns the refusals since the last query, without their times.
pub(crate) fn refusals() -> Answer {
    let lines = std::mem::take(&mut *REFUSALS.lock().unwrap());
    let without_time = |line: String| line.split_once(' ').map(|(_, rest)| rest.to_owned());
    Ok(lines.into_iter().filter_map(without_time).collect::<Vec<_>>().join("; "))
}
