//! Compilation: reading files and what they import, and running every stage over them.

use crate::ast::Item;
use crate::diagnostic::{Diagnostic, Failure, Severity};
use crate::lexer::lex;
use crate::model::Model;
use crate::parser::Parser;
use crate::preprocess::{Macros, preprocess};
use crate::resolve::Resolver;
use crate::source::{FileId, Sources, Span};
use std::path::{Path, PathBuf};

/// Files that one compilation may read.
const FILES_MAX: usize = 1000;
/// Imports that may lead from one to the next.
const IMPORT_DEPTH_MAX: usize = 64;

/// Files that everybody imports and that declare what the compiler knows already.
pub(crate) const BUILT_IN: [&str; 8] = [
    "unknwn.idl",
    "wtypes.idl",
    "oaidl.idl",
    "objidl.idl",
    "ocidl.idl",
    "wtypesbase.idl",
    "unknwnbase.idl",
    "obvia.idl",
];

/// A checked file and everything it imports.
#[derive(Debug)]
pub struct Compilation {
    /// What was declared.
    pub model: Model,
    /// Every file that was read.
    pub sources: Sources,
    /// Findings that are no errors.
    pub warnings: Vec<Diagnostic>,
    /// The name of the file compiled, without its directory.
    pub name: String,
}

/// How to compile.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    include: Vec<PathBuf>,
    permissive: bool,
}

struct Reading<'a> {
    compiler: &'a Compiler,
    sources: Sources,
    diagnostics: Vec<Diagnostic>,
    /// Files in the order they are to be resolved: imports first.
    parsed: Vec<(FileId, Vec<Item>)>,
    macros: Macros,
}

impl Compiler {
    /// A compiler that looks for imports beside the importing file only.
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks for imports in a directory too.
    #[must_use]
    pub fn include(mut self, directory: impl Into<PathBuf>) -> Self {
        self.include.push(directory.into());
        self
    }

    /// Takes attributes that nobody knows for warnings instead of errors.
    #[must_use]
    pub fn permissive(mut self, permissive: bool) -> Self {
        self.permissive = permissive;
        self
    }

    /// Checks a file.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, with the sources to show it in.
    pub fn check(&self, path: &Path) -> Result<Compilation, Failure> {
        match std::fs::read(path) {
            Ok(bytes) => self.check_bytes(path, bytes),
            Err(error) => {
                let text = format!("{} cannot be read: {error}", path.display());
                let diagnostic = Diagnostic::nowhere("unreadable", text);
                Err(Failure { diagnostics: vec![diagnostic], sources: Sources::default() })
            }
        }
    }

    /// Checks a text as if it stood in a file.
    ///
    /// # Errors
    ///
    /// As [`Self::check`].
    pub fn check_text(&self, path: &Path, text: &str) -> Result<Compilation, Failure> {
        self.check_bytes(path, text.as_bytes().to_vec())
    }

    fn check_bytes(&self, path: &Path, bytes: Vec<u8>) -> Result<Compilation, Failure> {
        let mut reading = Reading {
            compiler: self,
            sources: Sources::default(),
            diagnostics: Vec::new(),
            parsed: Vec::new(),
            macros: Macros::new(),
        };
        // Old files are in the encodings of their time; only comments and texts differ.
        let text = String::from_utf8(bytes).unwrap_or_else(|error| {
            error.into_bytes().iter().map(|&byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect()
        });
        reading.read(path, text, 0);
        reading.finish(path)
    }
}

impl Reading<'_> {
    fn read(&mut self, path: &Path, text: String, depth: usize) {
        let length = text.len() as u32;
        let Some(file) = self.sources.add(path, text, false) else {
            let text = format!("{} is too long, or one file too many", path.display());
            return self.diagnostics.push(Diagnostic::nowhere("unreadable", text));
        };
        let before = self.diagnostics.len();
        let tokens = lex(&self.sources.file(file).text, file, &mut self.diagnostics);
        if self.diagnostics.len() > before {
            // What follows an open quotation or comment would only be said to be wrong because of it.
            return;
        }
        let output = preprocess(&tokens, &self.sources, &mut self.macros, &mut self.diagnostics);
        for (name, span) in &output.includes {
            self.import(name, *span, path, depth);
        }
        let end = Span { file, start: length, end: length };
        let items = Parser::new(&output.tokens, end, &self.sources, &mut self.diagnostics).file();
        for item in &items {
            if let Item::Import(files) = item {
                for (name, span) in files {
                    self.import(name, *span, path, depth);
                }
            }
        }
        self.parsed.push((file, items));
    }

    fn import(&mut self, name: &str, span: Span, from: &Path, depth: usize) {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let beside = from.parent().unwrap_or_else(|| Path::new("")).join(name);
        let candidates = std::iter::once(beside).chain(self.compiler.include.iter().map(|dir| dir.join(name)));
        let found = candidates.into_iter().find(|path| path.is_file());
        let Some(path) = found else {
            if BUILT_IN.contains(&base) || base.ends_with(".h") || base.ends_with(".acf") {
                return;
            }
            let error = Diagnostic::error("no-such-file", span, format!("there is no file `{name}`"));
            let error = error.help("it is looked for beside this file and in the include directories (-I)");
            return self.diagnostics.push(error);
        };
        if self.sources.find(&path).is_some() {
            return;
        }
        if depth >= IMPORT_DEPTH_MAX || self.sources.files().len() >= FILES_MAX {
            let error = Diagnostic::error("too-deep", span, "too many files import one another");
            return self.diagnostics.push(error);
        }
        match std::fs::read_to_string(&path) {
            Ok(text) => self.read(&path, text, depth + 1),
            Err(error) => {
                let text = format!("{} cannot be read: {error}", path.display());
                self.diagnostics.push(Diagnostic::error("unreadable", span, text));
            }
        }
    }

    fn finish(mut self, path: &Path) -> Result<Compilation, Failure> {
        let mut resolver = Resolver::new(self.compiler.permissive, &mut self.diagnostics);
        let last = self.parsed.len().saturating_sub(1);
        for (at, (_, items)) in self.parsed.iter().enumerate() {
            resolver.file(items, at != last);
        }
        resolver.finish();
        let model = std::mem::take(&mut resolver.model);
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.file, span.start)));
        let (warnings, errors): (Vec<_>, Vec<_>) =
            self.diagnostics.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Warning);
        if errors.is_empty() {
            let name = path.file_name().map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned());
            Ok(Compilation { model, sources: self.sources, warnings, name })
        } else {
            Err(Failure { diagnostics: errors, sources: self.sources })
        }
    }
}
