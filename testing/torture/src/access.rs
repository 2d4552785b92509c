//! Orders about who may call, and what is said of those who may not.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::orders::{Answer, CLASS, State, done, word};
use obvia::code;
use obvia::security::{
    Access, Callers, Level, admit_other_users, clear_access, set_access, set_audit, set_class_access,
    set_default_access, set_default_class_access,
};
use std::sync::Mutex;

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
