//! Output of the command. All text is escaped here, because much of it comes from other programs
//! and files: no control sequence reaches the terminal, and no character reorders text.

use rustix::event::{PollFd, PollFlags, Timespec};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

/// Prints a text and a newline; a closed pipe is no error.
pub(crate) fn line(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout().lock(), "{}", harmless(text)) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Prints a JSON document.
pub(crate) fn document(value: &Value) -> anyhow::Result<()> {
    line(&serde_json::to_string_pretty(value)?)
}

/// Clears the terminal. The standard output gets no other control sequence, and this sequence
/// contains no text of other programs.
pub(crate) fn clear() -> anyhow::Result<()> {
    match std::io::stdout().lock().write_all(b"\x1b[H\x1b[2J") {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Waits at most this time for the end of the standard output's reader, such as the reader of a
/// pipe. Returns whether the reader has ended.
pub(crate) fn wait_for_end_of_reader(time: Duration) -> anyhow::Result<bool> {
    let until = Instant::now() + time;
    let output = std::io::stdout();
    loop {
        // The kernel reports the end of the reader even if no events are requested.
        let mut polled = [PollFd::new(&output, PollFlags::empty())];
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now()))?;
        match rustix::event::poll(&mut polled, Some(&left)) {
            Ok(found) => return Ok(found > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Prints a message to standard error, with exactly one newline at its end.
pub(crate) fn note(text: &str) {
    let text = text.strip_suffix('\n').unwrap_or(text);
    // A write error cannot be reported anywhere.
    let _ = writeln!(std::io::stderr().lock(), "{}", harmless(text));
}

/// Escapes newlines and tabs as well, for texts on one line.
pub(crate) fn on_a_line(text: &str) -> String {
    harmless(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// Escapes control characters, and characters that hide or reorder text. The escapes are those of
/// JSON, so that JSON documents stay valid.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_harmful(letter) {
            // All escaped characters are below U+10000.
            shown.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

fn is_harmful(letter: char) -> bool {
    // The escaped characters that are not control characters: separators of lines, the byte order
    // mark, and characters that change the direction of text.
    let is_hidden = matches!(letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    letter.is_control() && !matches!(letter, '\n' | '\t') || is_hidden
}

#[cfg(test)]
mod tests {
    use super::{harmless, on_a_line};

    #[test]
    fn control_characters_are_escaped_in_output() {
        let title = "\u{1b}]0;title\u{7}a\u{9b}31mb\rc\u{7f}";
        assert_eq!(harmless(title), "\\u001b]0;title\\u0007a\\u009b31mb\\u000dc\\u007f");
        assert_eq!(harmless("a\u{202e}b"), "a\\u202eb");
        assert_eq!(harmless("Gr\u{fc}\u{df}e \u{1f9ee}\n\tto all"), "Gr\u{fc}\u{df}e \u{1f9ee}\n\tto all");
        assert_eq!(on_a_line("a\nb\tc"), "a\\nb\\tc");
    }

    #[test]
    fn escaped_json_output_is_still_json() {
        let value = serde_json::json!({ "na\u{9b}me": "\u{1b}[2J\u{7f}\u{2066}\n" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = harmless(&text);
        assert!(!shown.contains(|letter: char| letter != '\n' && letter.is_control()), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
