//! Banned words in names, and banned places in the contents of files.

use super::Finding;
use crate::repo::{File, Repo};
use crate::rust::{Kind, tokens};

/// A word that must not occur in identifiers and file names.
struct Word {
    word: &'static str,
    instead: &'static str,
    /// The folders where the word is an established term and may occur.
    except: &'static [&'static str],
}

const WORDS: &[Word] = &[
    Word { word: "backend", instead: "provider, or what it does", except: &[] },
    Word { word: "common", instead: "what its contents have in common", except: &[] },
    Word { word: "driver", instead: "provider", except: &[] },
    Word { word: "helper", instead: "what it does", except: &[] },
    Word { word: "helpers", instead: "what they do", except: &[] },
    // Proxy manager and stub manager are terms of DCOM.
    Word { word: "manager", instead: "what it does", except: &["crates/com/"] },
    Word { word: "managers", instead: "what they do", except: &["crates/com/"] },
    Word { word: "misc", instead: "what it is", except: &[] },
    // The word is Maven's term.
    Word { word: "plugin", instead: "provider", except: &["java/obvia-maven-plugin/"] },
    Word { word: "session", instead: "association or connection", except: &[] },
    Word { word: "util", instead: "what it does", except: &[] },
    Word { word: "utils", instead: "what they do", except: &[] },
];

/// The texts that must not occur in files: paths on a machine, and hosts of package registries.
const PLACES: &[&str] = &[
    "/work/",
    "/root/",
    "/home/",
    "crates.io/",
    "index.crates.io",
    "static.crates.io",
    "static.rust-lang.org",
    "pypi.org",
    "registry.npmjs.org",
    "repo.maven.apache.org",
    "proxy.golang.org",
    "deb.debian.org",
];

/// The files that may name these places: this file, and files that cargo writes.
const MAY_NAME_PLACES: &[&str] = &["xtask/src/tidy/words.rs", "Cargo.lock", "testing/fuzz/Cargo.lock"];

/// The macros for unfinished work.
const UNFINISHED: &[&str] = &["dbg", "todo", "unimplemented"];

/// Marks for notes that belong in an issue, not in a comment.
const NOTES: &[&str] = &["FIXME", "TODO", "XXX"];

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in &repo.files {
        check_names(file, &mut findings);
        check_places(file, &mut findings);
        if file.is_rust() {
            check_source(file, &mut findings);
        }
    }
    findings
}

fn check_names(file: &File, findings: &mut Vec<Finding>) {
    for part in file.path.split('/') {
        let stem = part.split('.').next().unwrap_or_default();
        if let Some(word) = banned(file, stem) {
            findings.push(Finding::new(file, 1, complaint(part, word)));
        }
    }
}

fn check_places(file: &File, findings: &mut Vec<Finding>) {
    if MAY_NAME_PLACES.contains(&file.path.as_str()) {
        return;
    }
    for (number, line) in (1..).zip(file.text.lines()) {
        if let Some(place) = PLACES.iter().find(|place| line.contains(*place)) {
            let message = format!("{place:?} names a place on a machine or a package host");
            findings.push(Finding::new(file, number, message));
        }
    }
}

fn check_source(file: &File, findings: &mut Vec<Finding>) {
    let tokens = tokens(&file.text);
    let mut said = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Ident && !said.contains(&token.text) {
            // One finding for each word in a file is enough.
            if let Some(word) = banned(file, token.text) {
                said.push(token.text);
                findings.push(Finding::new(file, token.line, complaint(token.text, word)));
            }
        }
        let is_macro = tokens.get(at + 1).is_some_and(|next| next.is("!"));
        if is_macro && UNFINISHED.contains(&token.text) {
            let message = format!("{}! marks work that is not done", token.text);
            findings.push(Finding::new(file, token.line, message));
        }
        let mut words = token.text.split(|letter: char| !letter.is_alphanumeric());
        let is_table = file.path == "xtask/src/tidy/words.rs";
        if token.is_comment() && !is_table && words.any(|word| NOTES.contains(&word)) {
            let message = "a note of work to do belongs into an issue";
            findings.push(Finding::new(file, token.line, message));
        }
    }
}

/// Returns the banned word in a name, if there is one that this file must not use.
fn banned(file: &File, name: &str) -> Option<&'static Word> {
    let parts = parts(name);
    WORDS.iter().find(|word| {
        let is_excepted = word.except.iter().any(|path| file.path.starts_with(path));
        !is_excepted && parts.iter().any(|part| part == word.word)
    })
}

fn complaint(name: &str, word: &Word) -> String {
    format!("{name:?} says {:?}; say {}", word.word, word.instead)
}

/// Returns the words of a name in snake_case, kebab-case or CamelCase.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        let starts_word = was_lower && letter.is_uppercase();
        if !letter.is_alphanumeric() || starts_word {
            parts.push(String::new());
        }
        if let Some(part) = parts.last_mut().filter(|_| letter.is_alphanumeric()) {
            part.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::super::said;
    use super::{check, parts};

    #[test]
    fn names_are_split_into_words() {
        assert_eq!(parts("frame_util-x"), ["frame", "util", "x"]);
        assert_eq!(parts("FrameUtil2"), ["frame", "util2"]);
        assert_eq!(parts("IPID"), ["ipid"]);
    }

    #[test]
    fn banned_words_in_names_are_found() {
        let files = [
            ("crates/x/src/string_utils.rs", "//! x\nstruct UdpBackend; // a helper\nfn utility() {}\n"),
            ("crates/com/src/proxy.rs", "struct ProxyManager;\n"),
            ("crates/rpc/src/x.rs", "struct CallManager; type T = CallManager;\nconst X: &str = \"session\";\n"),
        ];
        assert_eq!(
            said(check, &files),
            [
                "crates/x/src/string_utils.rs:1: error: \"string_utils.rs\" says \"utils\"; say what they do",
                "crates/x/src/string_utils.rs:2: error: \"UdpBackend\" says \"backend\"; say provider, or what it does",
                "crates/rpc/src/x.rs:1: error: \"CallManager\" says \"manager\"; say what it does",
            ]
        );
    }

    #[test]
    fn banned_places_in_texts_are_found() {
        let files = [("docs/x.md", "a\nsee /home/me/x\n"), ("Cargo.lock", "source = \"crates.io/\"")];
        assert_eq!(
            said(check, &files),
            ["docs/x.md:2: error: \"/home/\" names a place on a machine or a package host"]
        );
    }

    #[test]
    fn marks_of_unfinished_work_are_found() {
        let text = "//! x\nfn f() {\n    todo!(\"TODO\")\n}\n// TODO: more\n";
        assert_eq!(
            said(check, &[("a.rs", text)]),
            [
                "a.rs:3: error: todo! marks work that is not done",
                "a.rs:5: error: a note of work to do belongs into an issue",
            ]
        );
    }
}
