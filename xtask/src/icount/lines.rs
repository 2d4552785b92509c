//! The source files of each instruction, through all levels of inlining. binutils' `addr2line`
//! determines them.

use crate::outcome::{Outcome, Problem};
use crate::program::Program;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

/// Source files by address.
#[derive(Debug, Default)]
pub(super) struct Lines {
    files: HashMap<u64, Vec<String>>,
}

impl Lines {
    /// Looks up addresses in a program.
    pub(super) fn of(program: &Path, addresses: impl Iterator<Item = u64>) -> Outcome<Self> {
        let mut wanted = String::new();
        for address in addresses {
            // Writing to a String cannot fail.
            let _ = writeln!(wanted, "{address:#x}");
        }
        let failed = |what: &dyn std::fmt::Display| Problem::Failed(format!("addr2line: {what}"));
        let mut child = Program::new("addr2line", &["--addresses", "--inlines", "--exe"])
            .argument(program.display().to_string())
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| failed(&error))?;
        // `addr2line` answers line by line, so another thread writes the addresses while this
        // thread reads the answers.
        let input = child.stdin.take();
        let writer = std::thread::spawn(move || input.map(|mut input| input.write_all(wanted.as_bytes())));
        let output = child.wait_with_output().map_err(|error| failed(&error))?;
        if let Ok(Some(Err(error))) = writer.join() {
            return Err(failed(&error));
        }
        if !output.status.success() {
            return Err(failed(&output.status));
        }
        Ok(Self::parse(&String::from_utf8_lossy(&output.stdout)))
    }

    /// Parses addresses. Each is followed by one `FILE:LINE` for each level of inlining, the
    /// innermost first.
    fn parse(text: &str) -> Self {
        let mut lines = Self::default();
        let mut files: Option<&mut Vec<String>> = None;
        for line in text.lines() {
            if let Some(address) = line.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
                files = Some(lines.files.entry(address).or_default());
            } else if let Some(files) = &mut files {
                let file = line.split(':').next().unwrap_or_default();
                files.push(file.to_owned());
            }
        }
        lines
    }

    /// Returns the source files of the instruction at an address, the innermost first.
    pub(super) fn files(&self, address: u64) -> impl Iterator<Item = &str> {
        self.files.get(&address).into_iter().flatten().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn source_lines_of_inlined_functions_are_found() {
        let text = "0x000000000001ade8\n/rustc/x/slice/cmp.rs:19\n/o/bench/src/a.rs:12 (discriminator 4)\n0x10\n??:0\n";
        let lines = Lines::parse(text);
        assert_eq!(lines.files(0x1ade8).collect::<Vec<_>>(), ["/rustc/x/slice/cmp.rs", "/o/bench/src/a.rs"]);
        assert_eq!(lines.files(0x10).collect::<Vec<_>>(), ["??"]);
        assert_eq!(lines.files(0x11).count(), 0);
    }
}
