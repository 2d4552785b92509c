//! A writer for text that is indented by its braces.

use super::source::Span;

/// The declaration that some lines are generated for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The kind of the declaration and its name, for messages.
    pub(crate) what: String,
    /// The declaration's place in the source.
    pub(crate) span: Span,
    /// Whether an imported file has the declaration.
    pub(crate) imported: bool,
}

/// Collects lines of text.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    depth: usize,
    /// The offset at which the lines for each declaration begin, and the declaration. `None` marks
    /// lines that belong to no declaration.
    origins: Vec<(usize, Option<Origin>)>,
}

impl Writer {
    /// Adds a line. A closing bracket at the line's beginning ends an indentation. An opening
    /// bracket at the line's end begins one.
    pub(crate) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if line.starts_with(['}', ')', ']']) {
            self.depth = self.depth.saturating_sub(1);
        }
        if !line.is_empty() {
            for _ in 0..self.depth {
                self.text.push_str("    ");
            }
            self.text.push_str(line);
        }
        self.text.push('\n');
        if line.ends_with(['{', '(', '[']) {
            self.depth += 1;
        }
    }

    /// Adds a line without regard to its brackets.
    pub(crate) fn verbatim(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
        }
        self.unindented(line);
    }

    /// Adds the arguments of a call, one on each line, and then `end`.
    pub(crate) fn arguments(&mut self, arguments: &[String], end: &str) {
        for (at, argument) in arguments.iter().enumerate() {
            let end = if at + 1 == arguments.len() { end } else { "," };
            self.verbatim(&format!("{argument}{end}"));
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Adds a documentation comment.
    pub(crate) fn doc(&mut self, text: &str) {
        for line in text.lines() {
            self.verbatim(format!("/// {line}").trim_end());
        }
    }

    /// Adds a line without indentation, such as a preprocessor directive.
    pub(crate) fn unindented(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a C comment.
    pub(crate) fn block_comment(&mut self, text: &str) {
        // The text must not end the comment, nor begin another one. A trigraph for a backslash at a
        // line's end causes a warning.
        let text = text.replace("*/", "* /").replace("/*", "/ *").replace("??/", "? ?/");
        let lines: Vec<&str> = text.lines().collect();
        match lines.as_slice() {
            [] => {}
            [line] => self.line(format!("/* {line} */")),
            [first, others @ ..] => {
                self.verbatim(&format!("/* {first}"));
                for line in others {
                    self.verbatim(format!(" * {line}").trim_end());
                }
                self.line(" */");
            }
        }
    }

    /// Sets the declaration that the next lines are generated for.
    pub(crate) fn set_origin(&mut self, origin: Option<Origin>) {
        self.origins.push((self.text.len(), origin));
    }

    /// Returns the lines, each with the declaration that it is generated for.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&str, Option<&Origin>)> {
        let (mut end, mut current) = (0, None);
        let mut origins = self.origins.iter().peekable();
        self.text.split_inclusive('\n').map(move |line| {
            while let Some((_, origin)) = origins.next_if(|(start, _)| *start <= end) {
                current = origin.as_ref();
            }
            end += line.len();
            (line.trim_end(), current)
        })
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}
