//! The page docs/cpp.md. Its programs and commands are tested.

use crate::outcome::{Outcome, Problem};
use crate::repo::root;
use crate::test::readme::{Newcomer, blocks};
use std::fs;

/// The folder of the programs on the page.
const FOLDER: &str = "examples/first";
/// The programs that the page shows in full.
const SHOWN: [&str; 4] = ["calc.idl", "CMakeLists.txt", "server.cc", "client.cc"];

/// The page: its code blocks, each with the line before it.
pub(super) struct Page(Vec<(String, String)>);

impl Page {
    pub(super) fn read() -> Outcome<Self> {
        let text = read("docs/cpp.md")?;
        Ok(Self::of(&text))
    }

    fn of(text: &str) -> Self {
        Self(blocks(text).into_iter().map(|(title, block)| (title.to_owned(), block)).collect())
    }

    /// Returns the code block after the line that begins with `title`.
    pub(super) fn block(&self, title: &str) -> Outcome<String> {
        let found = self.0.iter().find(|(line, _)| line.starts_with(title));
        let found = found.ok_or_else(|| Problem::Failed(format!("docs/cpp.md has no code after a line {title}")))?;
        Ok(found.1.clone())
    }

    /// Checks that the page shows the programs that are tested, and the README's interface.
    pub(super) fn check_quotes(&self, newcomer: &Newcomer) -> Outcome {
        for name in SHOWN {
            let path = format!("{FOLDER}/{name}");
            if self.block(&format!("`{name}`"))? != read(&path)? {
                return Err(Problem::Failed(format!("docs/cpp.md shows another {name} than {path}")));
            }
        }
        let interface = newcomer.files.iter().find(|(name, _)| name == "calc.idl");
        if interface.is_none_or(|(_, text)| Ok(text) != self.block("`calc.idl`").as_ref()) {
            return Err(Problem::failed("README.md and docs/cpp.md show different interfaces"));
        }
        Ok(())
    }
}

fn read(path: &str) -> Outcome<String> {
    fs::read_to_string(root().join(path)).map_err(|error| Problem::Failed(format!("{path}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::{FOLDER, Page, SHOWN, read};
    use crate::test::readme::Newcomer;

    /// Returns a valid page, and a README with the same interface.
    fn all() -> (String, Newcomer) {
        let shown = SHOWN.map(|name| format!("`{name}`:\n\n```x\n{}```\n", read(&format!("{FOLDER}/{name}")).unwrap()));
        let interface = ("calc.idl".to_owned(), read(&format!("{FOLDER}/calc.idl")).unwrap());
        (shown.concat(), Newcomer { files: vec![interface], printing: String::new(), printed: String::new() })
    }

    #[test]
    fn the_cpp_page_shows_the_built_programs() {
        let (text, newcomer) = all();
        assert_eq!(Page::of(&text).check_quotes(&newcomer), Ok(()));
        let other = Page::of(&text.replace("serving calc", "serving")).check_quotes(&newcomer);
        let said = "docs/cpp.md shows another server.cc than examples/first/server.cc";
        assert_eq!(other.unwrap_err().to_string(), said);
        let missing = Page::of(&text.replace("`client.cc`", "`client`")).check_quotes(&newcomer);
        assert_eq!(missing.unwrap_err().to_string(), "docs/cpp.md has no code after a line `client.cc`");
    }

    #[test]
    fn the_cpp_page_has_the_interface_of_the_readme() {
        let (text, mut newcomer) = all();
        newcomer.files[0].1.push(' ');
        assert!(Page::of(&text).check_quotes(&newcomer).is_err());
        newcomer.files.clear();
        assert!(Page::of(&text).check_quotes(&newcomer).is_err());
    }
}
