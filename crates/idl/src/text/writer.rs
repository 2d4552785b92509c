//! A writer for text that is indented by its braces.

/// Collects lines of text.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Adds a line. A closing bracket at its beginning ends an indentation, an opening bracket at
    /// its end begins one.
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
            self.line(format!("/// {line}").trim_end());
        }
    }

    /// Adds a line without indentation, such as a preprocessor directive.
    pub(crate) fn unindented(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds a C comment.
    pub(crate) fn block_comment(&mut self, text: &str) {
        // The text must not end the comment, nor begin another one.
        let text = text.replace("*/", "* /").replace("/*", "/ *");
        let lines: Vec<&str> = text.lines().collect();
        match lines.as_slice() {
            [] => {}
            [line] => self.line(format!("/* {line} */")),
            [first, others @ ..] => {
                self.line(format!("/* {first}"));
                for line in others {
                    self.line(format!(" * {line}").trim_end());
                }
                self.line(" */");
            }
        }
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}
