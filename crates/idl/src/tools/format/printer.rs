//! The printer: turns a stream of texts and possible line breaks into lines.
//!
//! A group is written on one line if it fits there and contains no forced line break. Otherwise
//! each possible break of the group becomes a line break, except for the breaks of inner groups.
//! The same rule then decides about each inner group.

use std::borrow::Cow;

/// The maximum length of a line, except for lines without a possible break.
const COLUMNS: usize = 100;
/// The number of blanks of a level of indentation.
const INDENT: usize = 4;

/// A part of the stream.
#[derive(Debug)]
pub(super) enum Op<'a> {
    /// A text without line ends.
    Text(Cow<'a, str>),
    /// A comment that ends its line.
    Trailing(&'a str),
    /// A further line of a trailing comment, below the comment's first line.
    Continued(&'a str),
    /// Lines of the file that are not indented.
    Raw(&'a str),
    /// A line break if the group is broken, and this text otherwise.
    Line(&'static str),
    /// A forced line break, with an empty line or without.
    Hard { blank: bool },
    /// The beginning of a group.
    Open,
    /// The end of a group.
    Close,
    /// One more level of indentation.
    In,
    /// One less level of indentation.
    Out,
}

/// Writes a stream as lines.
pub(super) fn print(ops: &[Op<'_>]) -> String {
    let fits = Widths::of(ops);
    let (mut out, mut indent, mut column) = (String::new(), 0_usize, 0_usize);
    // The column of the last comment that ended its line.
    let mut trailing = 0;
    // Whether each open group is on one line.
    let mut flat: Vec<bool> = Vec::new();
    for (at, op) in ops.iter().enumerate() {
        let is_flat = flat.last().copied().unwrap_or(false);
        match op {
            Op::Text(text) => {
                if out.is_empty() || out.ends_with('\n') {
                    column = indent * INDENT;
                    out.extend(std::iter::repeat_n(' ', column));
                }
                out.push_str(text);
                column += text.chars().count();
            }
            Op::Trailing(text) => {
                trailing = column;
                out.push_str(text);
            }
            Op::Continued(text) => {
                out.extend(std::iter::repeat_n(' ', trailing));
                out.push_str(text);
            }
            Op::Raw(text) => out.push_str(text),
            Op::Line(text) if is_flat => {
                out.push_str(text);
                column += text.len();
            }
            Op::Line(_) => end_line(&mut out, &mut column, false),
            Op::Hard { blank } => end_line(&mut out, &mut column, *blank),
            Op::Open => {
                let start = if out.ends_with('\n') { indent * INDENT } else { column };
                flat.push(is_flat || fits.needs(at).is_some_and(|width| start + width <= COLUMNS));
            }
            Op::Close => drop(flat.pop()),
            Op::In => indent += 1,
            Op::Out => indent = indent.saturating_sub(1),
        }
    }
    if !out.is_empty() && !out.ends_with('\n') {
        end_line(&mut out, &mut column, false);
    }
    out
}

fn end_line(out: &mut String, column: &mut usize, blank: bool) {
    out.truncate(out.trim_end_matches(' ').len());
    out.push_str(if blank { "\n\n" } else { "\n" });
    *column = 0;
}

/// The widths of groups, each computed once.
struct Widths {
    /// The width of all parts before each part, if everything is on one line.
    before: Vec<usize>,
    /// The number of forced line breaks before each part.
    hard: Vec<usize>,
    /// The width of the text from each part to the next possible line break.
    tail: Vec<usize>,
    /// For each part that begins a group, the index of the first part after the group. 0 for all
    /// other parts.
    ends: Vec<usize>,
}

impl Widths {
    fn of(ops: &[Op<'_>]) -> Self {
        let (mut before, mut hard, mut ends, mut open) = (vec![0], vec![0], vec![0; ops.len()], Vec::new());
        for (at, op) in ops.iter().enumerate() {
            let (width, is_hard) = match op {
                Op::Text(text) => (text.chars().count(), 0),
                Op::Trailing(text) | Op::Continued(text) => (text.chars().count(), 0),
                Op::Line(text) => (text.len(), 0),
                Op::Raw(_) | Op::Hard { .. } => (0, 1),
                Op::Open | Op::Close | Op::In | Op::Out => (0, 0),
            };
            before.push(before[at] + width);
            hard.push(hard[at] + is_hard);
            match op {
                Op::Open => open.push(at),
                Op::Close => open.pop().into_iter().for_each(|start: usize| ends[start] = at + 1),
                _ => {}
            }
        }
        let mut tail = vec![0; ops.len() + 1];
        for (at, op) in ops.iter().enumerate().rev() {
            tail[at] = match op {
                Op::Text(text) => tail[at + 1] + text.chars().count(),
                Op::Trailing(text) | Op::Continued(text) => tail[at + 1] + text.chars().count(),
                Op::Line(_) | Op::Hard { .. } | Op::Raw(_) => 0,
                Op::Open | Op::Close | Op::In | Op::Out => tail[at + 1],
            };
        }
        Self { before, hard, tail, ends }
    }

    /// Returns the width that a group needs on one line, including the text that follows the group
    /// up to the next possible line break. `None` if the group contains a forced line break.
    fn needs(&self, open: usize) -> Option<usize> {
        let end = self.ends[open];
        let is_one_line = end > open && self.hard[end] == self.hard[open];
        is_one_line.then(|| self.before[end] - self.before[open] + self.tail[end])
    }
}
