//! Text that is indented by its braces.

/// Collects lines.
#[derive(Debug, Default)]
pub(crate) struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Adds a line. One that begins with a closing bracket is moved out, one that ends with an opening one moves the next
    /// ones in.
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

    /// Adds a documentation comment.
    pub(crate) fn doc(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format!("/// {line}").trim_end());
        }
    }

    /// What has been written.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}
