//! A finding about the host: what was found, its consequence, and its remedy.

use serde_json::{Value, json};

/// The width of a terminal that the report fits, in columns.
const WIDTH: usize = 80;
/// The widths of the columns of states and subjects. The further lines of a text are indented by
/// both widths, remedies by the first width.
const STATE: usize = 9;
const SUBJECT: usize = 20;

/// Whether the host has the subject of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The host has all that obvia uses.
    Ok,
    /// The subject works with a limitation.
    Limited,
    /// The subject does not work.
    Missing,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

/// A finding about one subject.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) subject: String,
    pub(super) state: State,
    /// The value or the reason that was found.
    pub(super) found: String,
    /// The consequence, unless the state is `Ok`.
    cost: Option<String>,
    /// The remedy, as a command for a shell.
    remedy: Option<String>,
    /// The advice in words, beside a command or instead of one.
    hint: Option<String>,
}

impl Finding {
    pub(super) fn ok(subject: &str, found: impl Into<String>) -> Self {
        let (subject, found) = (subject.to_owned(), found.into());
        Self { subject, state: State::Ok, found, cost: None, remedy: None, hint: None }
    }

    pub(super) fn limited(subject: &str, found: impl Into<String>, cost: impl Into<String>) -> Self {
        Self { state: State::Limited, cost: Some(cost.into()), ..Self::ok(subject, found) }
    }

    pub(super) fn missing(subject: &str, found: impl Into<String>, cost: impl Into<String>) -> Self {
        Self { state: State::Missing, ..Self::limited(subject, found, cost) }
    }

    /// Creates a finding with the state `Ok` if a condition holds, and `Limited` otherwise.
    pub(super) fn ok_if(is_ok: bool, subject: &str, found: impl Into<String>, cost: &str) -> Self {
        if is_ok { Self::ok(subject, found) } else { Self::limited(subject, found, cost) }
    }

    /// Adds the remedy as a command for a shell, unless the state is `Ok`.
    pub(super) fn remedy(self, command: impl Into<String>) -> Self {
        let remedy = Some(command.into()).filter(|_| self.state != State::Ok);
        Self { remedy, ..self }
    }

    /// Adds advice in words, unless the state is `Ok`: beside the command, or where no command
    /// helps.
    pub(super) fn hint(self, text: impl Into<String>) -> Self {
        let hint = Some(text.into()).filter(|_| self.state != State::Ok);
        Self { hint, ..self }
    }

    /// Returns the lines of the report.
    pub(super) fn lines(&self) -> Vec<String> {
        let indent = STATE + SUBJECT;
        let head = format!("{:STATE$}{:SUBJECT$}", self.state.name(), self.subject);
        let mut lines: Vec<String> = wrapped(&self.found, WIDTH - indent);
        for text in [&self.cost, &self.hint].into_iter().flatten() {
            lines.extend(wrapped(text, WIDTH - indent));
        }
        let blank = " ".repeat(indent);
        let begin = |at| if at == 0 { &head } else { &blank };
        let mut lines: Vec<String> =
            lines.iter().enumerate().map(|(at, line)| format!("{}{line}", begin(at)).trim_end().to_owned()).collect();
        if let Some(remedy) = &self.remedy {
            // A command stays on one line, so that it can be copied.
            lines.push(format!("{}-> {remedy}", " ".repeat(STATE)));
        }
        lines
    }

    /// Returns the finding as JSON.
    pub(super) fn json(&self, group: &str) -> Value {
        json!({
            "group": group, "subject": self.subject, "state": self.state.name(), "found": self.found, "cost": self.cost,
            "remedy": self.remedy, "hint": self.hint,
        })
    }
}

/// Breaks a text at blanks into lines of at most `width` columns. A longer word has its own line.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        match lines.last_mut() {
            Some(last) if line == 0 => last.push_str(word),
            Some(last) if line + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Finding, WIDTH, wrapped};

    #[test]
    fn texts_are_broken_at_blanks() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("a-long-word b", 4), ["a-long-word", "b"]);
        assert_eq!(wrapped("", 4), [""]);
    }

    #[test]
    fn findings_fit_the_terminal_and_end_with_the_command() {
        let cost = "The consequence is explained in a sentence that is longer than the rest of the line.";
        let lines = Finding::limited("open files", "256, at most 4096", cost).remedy("ulimit -n 4096").lines();
        assert_eq!(lines[0], "limited  open files          256, at most 4096");
        assert!(lines.len() == 4 && lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
        assert_eq!(lines[3], "         -> ulimit -n 4096");
        let fine = Finding::ok("names", "/run/user/7/obvia").remedy("true").hint("Nothing is to be done.");
        assert_eq!(fine.lines().len(), 1);
        let hinted = Finding::missing("rdma", "none", "A price.").hint("A way.").lines();
        assert_eq!(hinted[1..], [" ".repeat(29) + "A price.", " ".repeat(29) + "A way."]);
    }
}
