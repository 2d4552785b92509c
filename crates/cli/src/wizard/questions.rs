//! Questions to the user, if there is a terminal.

use anyhow::{anyhow, bail};
use std::io::{BufRead, Write};

/// A question for one property of a project.
pub(super) struct Question<'a> {
    /// The command-line flag with the answer.
    pub(super) flag: &'a str,
    /// The question.
    pub(super) text: &'a str,
    /// The default answer.
    pub(super) proposal: Option<&'a str>,
    /// Whether the user has to give the answer: without a terminal, the proposal is not enough.
    pub(super) is_needed: bool,
}

/// The asker of questions, which also collects the equivalent command line.
pub(super) struct Asking {
    /// The terminal; none if no questions can be asked.
    terminal: Option<Terminal>,
    /// The words of the equivalent command line.
    words: Vec<String>,
    has_asked: bool,
}

struct Terminal {
    input: Box<dyn BufRead>,
    output: Box<dyn Write>,
}

impl Asking {
    /// Creates an asker on standard input and standard error. Without a terminal, the asker cannot
    /// ask.
    pub(super) fn new(is_terminal: bool) -> Self {
        let terminal = || Terminal { input: Box::new(std::io::stdin().lock()), output: Box::new(std::io::stderr()) };
        Self { terminal: is_terminal.then(terminal), words: Vec::new(), has_asked: false }
    }

    /// Adds words to the equivalent command line.
    pub(super) fn note(&mut self, words: &[&str]) {
        self.words.extend(words.iter().map(|word| quoted(word)));
    }

    /// Returns the value of a property. The value's text is the argument of the flag if the flag is
    /// given, otherwise the answer at the terminal, and without a terminal the proposal. `check`
    /// converts the text to the value, or returns the reason why the text is wrong.
    pub(super) fn ask<T>(
        &mut self,
        question: &Question<'_>,
        given: Option<&str>,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<T> {
        let (text, checked) = match (given, &mut self.terminal, question.proposal) {
            (Some(given), ..) => {
                let checked = check(given).map_err(|why| anyhow!("{} {given}: {why}", question.flag))?;
                (given.to_owned(), checked)
            }
            (_, Some(terminal), _) => {
                self.has_asked = true;
                terminal.ask(question, check)?
            }
            (_, None, Some(proposal)) if !question.is_needed => {
                let why = |why| anyhow!("{why}\nset it by {}", question.flag);
                (proposal.to_owned(), check(proposal).map_err(why)?)
            }
            _ => bail!("{} is needed, and there is no terminal to ask the question: {}", question.flag, question.text),
        };
        match text.split_once(' ') {
            _ if question.flag.starts_with("--") => self.note(&[question.flag, &text]),
            Some((flag, value)) if flag.starts_with("--") => self.note(&[flag, value]),
            _ => self.note(&[&text]),
        }
        Ok(checked)
    }

    /// Returns the command line that would have answered all questions, if any was asked.
    pub(super) fn command_line(&self) -> Option<String> {
        self.has_asked.then(|| format!("obvia wizard {}", self.words.join(" ")))
    }
}

impl Terminal {
    fn ask<T>(
        &mut self,
        question: &Question<'_>,
        check: impl Fn(&str) -> Result<T, String>,
    ) -> anyhow::Result<(String, T)> {
        loop {
            let proposal = question.proposal.map_or_else(String::new, |proposal| format!(" [{proposal}]"));
            write!(self.output, "{}{proposal}: ", question.text)?;
            self.output.flush()?;
            let mut line = String::new();
            if self.input.read_line(&mut line)? == 0 {
                bail!("nothing was written, because the input ended before the last answer");
            }
            let text = match (line.trim(), question.proposal) {
                ("", Some(proposal)) => proposal,
                ("", None) => continue,
                (text, _) => text,
            };
            match check(text) {
                Ok(checked) => return Ok((text.to_owned(), checked)),
                Err(why) => writeln!(self.output, "{why}")?,
            }
        }
    }
}

/// Quotes a word for shells.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./,:+=@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::{Asking, Question, Terminal, quoted};
    use std::io::Cursor;

    const NUMBER: Question<'static> =
        Question { flag: "--number", text: "Which number", proposal: Some("7"), is_needed: true };

    fn number(text: &str) -> Result<u8, String> {
        text.parse().map_err(|_| format!("`{text}` is no number"))
    }

    fn answered(answers: &'static str) -> Asking {
        let terminal = Terminal { input: Box::new(Cursor::new(answers)), output: Box::new(std::io::sink()) };
        Asking { terminal: Some(terminal), words: Vec::new(), has_asked: false }
    }

    #[test]
    fn the_wizard_repeats_a_question_after_an_invalid_answer() {
        let mut asking = answered("x\n\n8\n");
        assert_eq!(asking.ask(&NUMBER, None, number).unwrap(), 7, "the empty line takes the proposal");
        assert_eq!(asking.ask(&NUMBER, None, number).unwrap(), 8);
        assert_eq!(asking.command_line().unwrap(), "obvia wizard --number 7 --number 8");
        let error = asking.ask(&NUMBER, None, number).unwrap_err().to_string();
        assert!(error.contains("the input ended"), "{error}");
    }

    #[test]
    fn the_wizard_does_not_ask_for_given_options() {
        let mut asking = answered("");
        assert_eq!(asking.ask(&NUMBER, Some("9"), number).unwrap(), 9);
        let error = asking.ask(&NUMBER, Some("x"), number).unwrap_err().to_string();
        assert_eq!(error, "--number x: `x` is no number");
        assert_eq!(asking.command_line(), None);
    }

    #[test]
    fn the_wizard_asks_nothing_without_a_terminal() {
        let mut asking = Asking::new(false);
        let error = asking.ask(&NUMBER, None, number).unwrap_err().to_string();
        assert_eq!(error, "--number is needed, and there is no terminal to ask the question: Which number");
        assert_eq!(asking.ask(&Question { is_needed: false, ..NUMBER }, None, number).unwrap(), 7);
    }

    #[test]
    fn command_line_arguments_are_quoted_for_shells() {
        assert_eq!(["a-b/c.idl", "", "a b", "it's"].map(quoted), ["a-b/c.idl", "''", "'a b'", r"'it'\''s'"]);
    }
}
