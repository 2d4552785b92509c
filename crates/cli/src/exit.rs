//! The command's exit codes, by which scripts tell failures apart.

use obvia::code;
use std::fmt;
use std::process::ExitCode;

/// The exit codes, at the end of the command's help.
pub(crate) const HELP: &str = "\
Exit codes:
  0  success
  1  failure: of the called method, of the compilation, or for another reason than the following
  2  wrong usage: an option, an argument, or the name of a method or interface that does not exist
  3  no server: no server has the name or listens at the binding, or the server has ended
  4  --timeout has passed";

/// The kind of a failure, whose number is the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Other = 1,
    Usage = 2,
    NobodyThere = 3,
    TimedOut = 4,
}

/// An error whose kind the command has determined.
#[derive(Debug)]
struct Failure {
    kind: Kind,
    text: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Failure {}

/// Returns the error for a wrong use of the command.
pub(crate) fn usage(text: impl fmt::Display) -> anyhow::Error {
    Failure { kind: Kind::Usage, text: text.to_string() }.into()
}

/// Returns the error for a command that took too long.
pub(crate) fn timed_out(text: impl fmt::Display) -> anyhow::Error {
    Failure { kind: Kind::TimedOut, text: text.to_string() }.into()
}

/// Returns an error of the same kind as the runtime's `error`, with a more detailed text.
pub(crate) fn runtime_error(error: &obvia::Error, text: impl fmt::Display) -> anyhow::Error {
    Failure { kind: kind_of(error), text: text.to_string() }.into()
}

fn kind_of(error: &obvia::Error) -> Kind {
    match error.code() {
        code::RPC_S_SERVER_UNAVAILABLE | code::RPC_E_DISCONNECTED | code::EPT_S_NOT_REGISTERED => Kind::NobodyThere,
        code::RPC_E_TIMEOUT => Kind::TimedOut,
        _ => Kind::Other,
    }
}

/// Returns the exit code for a runtime error.
pub(crate) fn code_for(error: &obvia::Error) -> ExitCode {
    ExitCode::from(kind_of(error) as u8)
}

/// Returns the exit code for any error of the command.
pub(crate) fn code_of(error: &anyhow::Error) -> ExitCode {
    ExitCode::from(kind(error) as u8)
}

fn kind(error: &anyhow::Error) -> Kind {
    let known = error.chain().find_map(|cause| {
        let runtime_error = cause.downcast_ref::<Failure>().map(|failure| failure.kind);
        runtime_error.or_else(|| cause.downcast_ref::<obvia::Error>().map(kind_of))
    });
    known.unwrap_or(Kind::Other)
}

/// Whether the cause of an error is a time limit.
pub(crate) fn is_timeout(error: &anyhow::Error) -> bool {
    kind(error) == Kind::TimedOut
}

#[cfg(test)]
mod tests {
    use super::{Kind, kind_of, runtime_error};
    use obvia::code;

    #[test]
    fn exit_codes_do_not_depend_on_the_error_text() {
        let gone = obvia::Error::from(code::RPC_S_SERVER_UNAVAILABLE);
        assert_eq!(kind_of(&gone), Kind::NobodyThere);
        let wrapped = runtime_error(&gone, "no server").context("calling");
        let same = |code: std::process::ExitCode| format!("{code:?}");
        assert_eq!(same(super::code_of(&wrapped)), same(super::code_for(&gone)));
        assert_eq!(same(super::code_of(&anyhow::Error::from(gone))), same(std::process::ExitCode::from(3)));
        assert_eq!(same(super::code_of(&anyhow::anyhow!("else"))), same(std::process::ExitCode::from(1)));
    }
}
