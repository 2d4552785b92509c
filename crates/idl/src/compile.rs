//! Compilation: reads files and their imports, and runs every stage over them.

use crate::model::Model;
use crate::model::automation;
use crate::model::events;
use crate::plan::keep_unsupported;
use crate::resolve::side_file::merge;
use crate::resolve::{Resolver, prelude};
use crate::syntax::ast::{Item, ParsedFile};
use crate::syntax::bundled::parse_bundled;
use crate::syntax::parser::Parser;
use crate::text::diagnostic::{Diagnostic, Failure, Severity, first_of};
use crate::text::lexer::{Token, TokenKind, is_name, lex};
use crate::text::macros::{Files, Macros};
use crate::text::preprocess::{FileDirective, Preprocessor, preprocess};
use crate::text::source::{File, FileId, Role, Sources, Span};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The maximum number of files that one compilation may read.
const FILES_MAX: usize = 1000;
/// The maximum number of bytes that the files of one compilation may have. A file that is included
/// again counts again.
const BYTES_MAX: usize = 16 << 20;
/// The maximum length of a chain of imports.
const IMPORT_DEPTH_MAX: usize = 64;

/// Commonly imported files whose declarations are built into the compiler.
pub(crate) const BUILT_IN: [&str; 14] = [
    "unknwn.idl",
    "wtypes.idl",
    "objidl.idl",
    "wtypesbase.idl",
    "unknwnbase.idl",
    "objidlbase.idl",
    "oleidl.idl",
    "ms-dtyp.idl",
    "obvia.idl",
    "basetsd.h",
    "guiddef.h",
    "windef.h",
    "winnt.h",
    "winbase.h",
];

/// Files whose import also adds the built-in `oaidl.idl`. They are files of Windows, and type
/// libraries that other IDL files import instead of Windows' files. The built-in file is added even
/// if the user has files of these names.
const AUTOMATION: [&str; 5] = ["oaidl.idl", "ocidl.idl", "dispex.idl", "stdole2.tlb", "stdole32.tlb"];

/// Built-in files. Each imports the files before it.
const BUNDLED: [(&str, &str); 2] = [(automation::FILE, automation::TEXT), (events::FILE, events::TEXT)];

/// A checked file with everything that it imports.
#[derive(Debug)]
pub struct Compilation {
    /// The declarations.
    pub model: Model,
    /// The files that were read.
    pub sources: Sources,
    /// Findings that are not errors.
    pub warnings: Vec<Diagnostic>,
    /// The name of the compiled file, without its directory.
    pub name: String,
}

impl Compilation {
    /// Whether a file is the built-in file of this name.
    pub(crate) fn is_bundled(&self, file: &File, name: &str) -> bool {
        file.role == Role::BuiltIn && file.path == bundled_path(name)
    }
}

/// Returns the path under which messages show a built-in file, which is not on disk.
fn bundled_path(name: &str) -> PathBuf {
    PathBuf::from(format!("<{name}>"))
}

/// The options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    include: Vec<PathBuf>,
    closed: bool,
    permissive: bool,
    side: SideFile,
    test: bool,
    defines: Vec<String>,
    java_package: Option<String>,
}

/// The source of the compiled file's side file.
#[derive(Clone, Debug, Default)]
enum SideFile {
    /// The file of the same name beside the compiled file, if there is one. Imported files always
    /// use the side files beside them.
    #[default]
    Beside,
    /// A file under another name.
    At(PathBuf),
    /// A text, and the path under which messages show it.
    Text(PathBuf, String),
}

struct Reading<'a> {
    compiler: &'a Compiler,
    sources: Sources,
    /// The number of bytes of all files. A file that is included again counts again.
    bytes: usize,
    diagnostics: Vec<Diagnostic>,
    /// The macros that are defined before each file.
    defined: Macros,
    /// Whether a file imports a file of [`BUILT_IN`] or [`AUTOMATION`], and therefore may use the
    /// declarations of the prelude.
    uses_prelude: bool,
    /// For each file, the path under which it was read first. The key is the file's path without
    /// `..` and without symbolic links.
    paths: HashMap<PathBuf, PathBuf>,
    /// The parsed files in the order of resolution: imports first.
    parsed: Vec<ParsedFile>,
}

impl Compiler {
    /// Returns a compiler that looks for imports only beside the importing file.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a directory in which imports are looked for.
    #[must_use]
    pub fn include(mut self, directory: impl Into<PathBuf>) -> Self {
        self.include.push(directory.into());
        self
    }

    /// Lets the compiler read only the built-in files. Imported, included and side files on disk
    /// are not read. This is for [`check_text`](Self::check_text) with a text that another program
    /// or user wrote.
    #[must_use]
    pub fn closed(mut self) -> Self {
        self.closed = true;
        self
    }

    /// Defines a macro before each file: `NAME=TEXT`, or `NAME`, which defines it as 1.
    #[must_use]
    pub fn define(mut self, definition: impl Into<String>) -> Self {
        self.defines.push(definition.into());
        self
    }

    /// Reports warnings instead of errors where other compilers accept a file. These are the errors
    /// about unknown attributes, about interfaces that other processes cannot call because of their
    /// methods or their UUID, and about methods whose parameters cannot be passed. These methods
    /// become `[local]`: only programs in the object's process can call them.
    #[must_use]
    pub fn permissive(mut self, permissive: bool) -> Self {
        self.permissive = permissive;
        self
    }

    /// Reads the compiled file's side file from `path` instead of `NAME.acf` beside it.
    #[must_use]
    pub fn acf(mut self, path: impl Into<PathBuf>) -> Self {
        self.side = SideFile::At(path.into());
        self
    }

    /// Uses `text` as the compiled file's side file. Messages show the side file under the path
    /// `path`.
    #[must_use]
    pub fn acf_text(mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.side = SideFile::Text(path.into(), text.into());
        self
    }

    /// Writes a test program beside the code: `NAME_test.rs` or `NAME_test.cc`. The program calls
    /// every method with random values.
    #[must_use]
    pub fn test(mut self, test: bool) -> Self {
        self.test = test;
        self
    }

    /// Writes Java code into this package instead of the package with the file's name.
    #[must_use]
    pub fn java_package(mut self, name: impl Into<String>) -> Self {
        self.java_package = Some(name.into());
        self
    }

    pub(crate) fn package(&self) -> Option<&str> {
        self.java_package.as_deref()
    }

    pub(crate) fn writes_test(&self) -> bool {
        self.test
    }

    /// Checks a file and everything that it imports.
    ///
    /// # Errors
    ///
    /// The errors in the files, up to a limit, and the files' texts, so that the errors can be
    /// shown at their places. If the file cannot be read, the only error is the finding
    /// `unreadable`.
    pub fn check(&self, path: &Path) -> Result<Compilation, Failure> {
        match bytes_of(path) {
            Ok(bytes) => self.check_bytes(path, bytes),
            Err(error) => {
                let text = format!("{} cannot be read: {error}", path.display());
                let diagnostic = Diagnostic::without_place("unreadable", text);
                Err(Failure { diagnostics: vec![diagnostic], sources: Sources::default() })
            }
        }
    }

    /// Checks a text as the content of a file with this path.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::check`].
    pub fn check_text(&self, path: &Path, text: &str) -> Result<Compilation, Failure> {
        self.check_bytes(path, text.as_bytes().to_vec())
    }

    /// Checks bytes as the content of a file with this path, in UTF-8 or UTF-16.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::check`].
    pub fn check_bytes(&self, path: &Path, bytes: Vec<u8>) -> Result<Compilation, Failure> {
        let (sources, diagnostics, parsed) = (Sources::default(), Vec::new(), Vec::new());
        let defined = Macros::new();
        let paths = HashMap::new();
        let mut reading =
            Reading { compiler: self, sources, bytes: 0, diagnostics, defined, uses_prelude: false, paths, parsed };
        reading.first_path(path);
        reading.read(path, bytes, 0);
        reading.finish(path)
    }
}

impl Reading<'_> {
    fn read(&mut self, path: &Path, bytes: Vec<u8>, depth: usize) {
        let text = text_of(bytes);
        let Some(file) = self.added(path, text, Role::Idl, None) else { return };
        self.understand(path, file, depth);
    }

    /// Returns the path under which a file was read first, or `path` if the file is new.
    fn first_path(&mut self, path: &Path) -> PathBuf {
        if self.compiler.closed {
            return path.to_owned();
        }
        let Ok(whole) = path.canonicalize() else { return path.to_owned() };
        self.paths.entry(whole).or_insert_with(|| path.to_owned()).clone()
    }

    /// Defines the macros of the compiler's options: see [`Compiler::define`]. Errors in these
    /// macros are reported at the start of `file`.
    fn define(&mut self, file: FileId) {
        let place = Span { file, start: 0, end: 0 };
        for definition in &self.compiler.defines {
            let (name, text) = definition.split_once('=').unwrap_or((definition, "1"));
            if !is_name(name.split_once('(').map_or(name, |(name, _)| name)) {
                let error = format!("the option -D {definition} does not define a name");
                let error = Diagnostic::without_place("bad-define", error);
                self.diagnostics.push(error.help("write -D NAME or -D NAME=TEXT"));
                continue;
            }
            let Some(made) = self.sources.made(&format!("#define {name} {text}"), place) else { return };
            let token = Token { kind: TokenKind::Directive, span: made };
            let mut files = Files { sources: &mut self.sources, diagnostics: &mut self.diagnostics };
            Preprocessor::new(&mut self.defined).token(&mut files, token);
        }
    }

    /// Parses a file whose text has been added, with its imports and its side file.
    fn understand(&mut self, path: &Path, file: FileId, depth: usize) {
        let length = self.sources.file(file).text.len() as u32;
        let Some(tokens) = self.lexed(file) else { return };
        if depth == 0 {
            self.define(file);
        }
        // The compiled file and each imported file have separate macros. An included file uses and
        // changes the macros of the including file.
        let mut macros = self.defined.clone();
        let Some(tokens) = self.preprocessed(file, tokens, &mut macros) else { return };
        let end = Span { file, start: length, end: length };
        let mut items = Parser::new(&tokens, end, &self.sources, &mut self.diagnostics).file();
        self.imports(&items, depth);
        self.side_file(path, &mut items, &macros, depth);
        self.parsed.push((file, items.into()));
    }

    /// Returns the significant tokens of a file and of the files that it includes. `None` if an
    /// included file cannot be read, if its tokens are broken, or if the inclusions or the macros
    /// exceed a limit.
    fn preprocessed(&mut self, file: FileId, tokens: Vec<Token>, macros: &mut Macros) -> Option<Vec<Token>> {
        let mut preprocessor = Preprocessor::new(macros);
        let mut once = HashSet::new();
        // The open files, each with its remaining tokens and the value that `begin_file` has
        // returned.
        let mut open = vec![(file, tokens.into_iter(), 0)];
        while let Some((file, tokens, outer)) = open.last_mut() {
            let mut files = Files { sources: &mut self.sources, diagnostics: &mut self.diagnostics };
            let Some(token) = tokens.next() else {
                preprocessor.end_file(&mut files, *outer);
                open.pop();
                continue;
            };
            let (name, span) = match preprocessor.token(&mut files, token) {
                Some(FileDirective::Include(name, span)) => (name, span),
                Some(FileDirective::Once) => {
                    once.insert(*file);
                    continue;
                }
                None => continue,
            };
            let is_deep = open.len() > IMPORT_DEPTH_MAX;
            let Some(path) = self.found(&name, span) else { continue };
            let known = self.sources.find(&path);
            if known.is_some_and(|file| once.contains(&file)) {
                continue;
            }
            let file = match known {
                Some(file) => {
                    self.bytes = self.bytes.saturating_add(self.sources.file(file).text.len());
                    file
                }
                None => self.include(&path, span)?,
            };
            if is_deep || self.bytes > BYTES_MAX {
                let text = if is_deep {
                    format!("more than {IMPORT_DEPTH_MAX} files include one another here")
                } else {
                    format!("with `{name}`, the included files have more than {BYTES_MAX} bytes in all")
                };
                let error = Diagnostic::error("too-deep", span, text);
                self.diagnostics.push(error.help(
                    "write `#pragma once` into the included file, or an #ifndef around all of it, so that it counts once",
                ));
                return None;
            }
            let tokens = self.lexed(file)?;
            open.push((file, tokens.into_iter(), preprocessor.begin_file()));
        }
        (!preprocessor.is_over()).then_some(preprocessor.tokens)
    }

    /// Returns the tokens of a file. `None` after an error that makes the rest of the file
    /// meaningless, such as an unclosed quotation, an unclosed comment, or binary content.
    fn lexed(&mut self, file: FileId) -> Option<Vec<Token>> {
        let before = self.diagnostics.len();
        let tokens = lex(&self.sources.file(file).text, file, &mut self.diagnostics);
        (self.diagnostics.len() == before).then_some(tokens)
    }

    /// Reads and adds a file that another file includes. `None` after an error.
    fn include(&mut self, path: &Path, span: Span) -> Option<FileId> {
        let text = match bytes_of(path) {
            Ok(bytes) => text_of(bytes),
            Err(error) => {
                let text = format!("{} cannot be read: {error}", path.display());
                self.diagnostics.push(Diagnostic::error("unreadable", span, text));
                return None;
            }
        };
        if self.sources.files().len() >= FILES_MAX {
            self.diagnostics.push(too_many_files(span));
            return None;
        }
        self.added(path, text, Role::Included, Some(span))
    }

    /// Adds a file. Reports an error and returns `None` if there are too many files, or too many
    /// bytes in all files together.
    fn added(&mut self, path: &Path, text: String, role: Role, span: Option<Span>) -> Option<FileId> {
        self.bytes = self.bytes.saturating_add(text.len());
        let file = if self.bytes > BYTES_MAX { None } else { self.sources.add(path, text, role) };
        if file.is_none() {
            let what = if self.bytes > BYTES_MAX { "makes the compilation too long" } else { "is one file too many" };
            let text = format!("{} {what}", path.display());
            let error = match span {
                Some(span) => Diagnostic::error("too-large", span, text),
                None => Diagnostic::without_place("too-large", text),
            };
            self.diagnostics.push(error.help(format!("the files of a compilation have at most {BYTES_MAX} bytes")));
        }
        file
    }

    /// Reads the imports of a file, including the imports in its libraries.
    fn imports(&mut self, items: &[Item], depth: usize) {
        for item in items {
            match item {
                Item::Import(files) => files.iter().for_each(|(name, span)| self.import(name, *span, depth)),
                Item::Library(library) => self.imports(&library.items, depth),
                Item::ImportLib(name, _) if AUTOMATION.contains(&name.to_ascii_lowercase().as_str()) => {
                    self.uses_prelude = true;
                    self.add_bundled(0);
                }
                _ => {}
            }
        }
    }

    /// Adds the file of [`BUNDLED`] at an index, and the files before it in that list, which it
    /// imports. The built-in files come before all other files.
    fn add_bundled(&mut self, at: usize) {
        if at > 0 {
            self.add_bundled(at - 1);
        }
        let (name, text) = BUNDLED[at];
        let path = bundled_path(name);
        if self.sources.find(&path).is_some() {
            return;
        }
        let Some(file) = self.added(&path, text.to_owned(), Role::BuiltIn, None) else { return };
        let items = parse_bundled(name, file, &mut self.sources, &mut self.diagnostics);
        self.parsed.insert(at, (file, items));
    }

    /// Adds the attributes from the side file of a file, if there is one.
    fn side_file(&mut self, path: &Path, items: &mut [Item], macros: &Macros, depth: usize) {
        let (path, text) = match &self.compiler.side {
            SideFile::Text(path, text) if depth == 0 => (path.clone(), Ok(text.clone())),
            SideFile::At(path) if depth == 0 => (path.clone(), bytes_of(path).map(text_of)),
            _ if self.compiler.closed => return,
            _ => {
                let beside = path.with_extension("acf");
                if beside == path || !beside.is_file() {
                    return;
                }
                let text = bytes_of(&beside).map(text_of);
                (beside, text)
            }
        };
        let file = match text {
            Ok(text) => self.added(&path, text, Role::SideFile, None),
            Err(error) => {
                let text = format!("{} cannot be read: {error}", path.display());
                return self.diagnostics.push(Diagnostic::without_place("unreadable", text));
            }
        };
        let Some(file) = file else { return };
        // A side file may use the macros of its IDL file, but its own macros stay local.
        let mut macros = macros.clone();
        let mut found = Vec::new();
        let text = &self.sources.file(file).text;
        let end = Span { file, start: text.len() as u32, end: text.len() as u32 };
        let tokens = lex(text, file, &mut found);
        if found.is_empty() {
            let output = preprocess(&tokens, &mut self.sources, &mut macros, &mut found);
            for (_, span) in &output.includes {
                let error = Diagnostic::error("unsupported", *span, "a side file cannot include another one");
                found.push(error.help("each IDL file has its own side file beside it"));
            }
            let side = Parser::new(&output.tokens, end, &self.sources, &mut found).side_file();
            merge(items, side, &self.sources, &mut found);
        }
        self.diagnostics.append(&mut found);
    }

    /// Returns the path of an imported or included file. `None` for a built-in file, and for a
    /// missing file, which is reported as an error.
    fn found(&mut self, name: &str, span: Span) -> Option<PathBuf> {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        // The built-in oaidl.idl is needed even if the user has a file of the imported name.
        if AUTOMATION.contains(&base) && self.sources.file(span.file).role != Role::BuiltIn {
            self.add_bundled(0);
        }
        let places = self.places(name, span.file);
        // C headers among the built-in imports are not read: the prelude has their types.
        let is_header = BUILT_IN.contains(&base) && base.ends_with(".h");
        self.uses_prelude |= BUILT_IN.contains(&base) || AUTOMATION.contains(&base);
        if let Some(path) = places.iter().find(|path| path.is_file() && !is_header) {
            return Some(self.first_path(path));
        }
        if let Some(at) = BUNDLED.iter().position(|(name, _)| *name == base) {
            self.add_bundled(at);
        } else if !BUILT_IN.contains(&base) {
            let error = Diagnostic::error("no-such-file", span, format!("there is no file `{name}`"));
            let places: Vec<String> = places.iter().map(|path| format!("`{}`", path.display())).collect();
            let searched = match places.is_empty() {
                true => "this text may use only the compiler's built-in files".to_owned(),
                false => format!("neither beside this file nor in the include directories (-I): {}", places.join(", ")),
            };
            self.diagnostics.push(error.help(searched));
        }
        None
    }

    /// Returns the paths to which a file's import or include may refer, in the order in which they
    /// are tried.
    fn places(&self, name: &str, file: FileId) -> Vec<PathBuf> {
        if self.compiler.closed {
            return Vec::new();
        }
        let from = &self.sources.file(file).path;
        let beside = from.parent().unwrap_or_else(|| Path::new("")).join(name);
        let others = self.compiler.include.iter().map(|folder| folder.join(name));
        std::iter::once(beside).chain(others).collect()
    }

    fn import(&mut self, name: &str, span: Span, depth: usize) {
        let Some(path) = self.found(name, span) else { return };
        // If the file has been included but not imported, its text was read as a part of another
        // file. The declarations of the file itself must still be read.
        let known = self.sources.find(&path);
        if known.is_some_and(|file| self.sources.file(file).role == Role::Idl) {
            return;
        }
        if self.sources.files().len() >= FILES_MAX {
            return self.diagnostics.push(too_many_files(span));
        }
        if depth >= IMPORT_DEPTH_MAX {
            let text = format!("imports are nested more than {IMPORT_DEPTH_MAX} deep");
            let error = Diagnostic::error("too-deep", span, text);
            return self.diagnostics.push(error.help("import the file in one that is nearer to the compiled file"));
        }
        if let Some(file) = known {
            self.sources.import(file);
            return self.understand(&path, file, depth + 1);
        }
        match bytes_of(&path) {
            Ok(bytes) => self.read(&path, bytes, depth + 1),
            Err(error) => {
                let text = format!("{} cannot be read: {error}", path.display());
                self.diagnostics.push(Diagnostic::error("unreadable", span, text));
            }
        }
    }

    /// Returns the declarations of the prelude, if a file needs them: see `uses_prelude`.
    fn prelude(&mut self) -> Option<ParsedFile> {
        let name = "prelude.idl";
        let path = bundled_path(name);
        let file = self.uses_prelude.then(|| self.added(&path, prelude::TEXT.to_owned(), Role::BuiltIn, None))??;
        Some((file, parse_bundled(name, file, &mut self.sources, &mut self.diagnostics)))
    }

    fn finish(mut self, path: &Path) -> Result<Compilation, Failure> {
        let bytes = self.bytes;
        let prelude = self.prelude();
        let mut resolver = Resolver::new(self.compiler.permissive, &self.parsed, &mut self.diagnostics);
        if let Some((file, items)) = prelude {
            resolver.model.prelude = Some(file);
            resolver.use_prelude(items);
        }
        self.sources.set_resolved(self.parsed.iter().map(|(file, _)| *file));
        let last = self.parsed.len().saturating_sub(1);
        for (at, (file, items)) in self.parsed.iter().enumerate() {
            resolver.file(items, at != last);
            if self.sources.file(*file).role == Role::BuiltIn {
                resolver.end_bundled(at == 0);
            }
        }
        resolver.finish(bytes);
        let mut model = std::mem::take(&mut resolver.model);
        model.permissive = self.compiler.permissive;
        if model.permissive && self.diagnostics.iter().all(|found| !found.is_error()) {
            self.diagnostics.extend(keep_unsupported(&mut model));
        }
        for diagnostic in &mut self.diagnostics {
            diagnostic.span = diagnostic.span.map(|span| self.sources.use_of(span));
        }
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| (span.file, span.start)));
        let (warnings, errors): (Vec<_>, Vec<_>) =
            self.diagnostics.into_iter().partition(|diagnostic| diagnostic.severity == Severity::Warning);
        if errors.is_empty() {
            let name = path.file_name().map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().into_owned());
            let warnings = first_of(warnings, "warnings");
            Ok(Compilation { model, sources: self.sources, warnings, name })
        } else {
            Err(Failure::new(errors, self.sources))
        }
    }
}

/// Returns the bytes of a file, up to one byte more than the limit.
fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns bytes as text, without a byte order mark and without the Ctrl-Z that ends old files. If
/// the encoding is neither UTF-8 nor UTF-16, each byte outside ASCII becomes `?`. Such bytes occur
/// in comments and texts of old files.
fn text_of(bytes: Vec<u8>) -> String {
    let wide = |read: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| read([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    let mut text = if bytes.starts_with(&[0xff, 0xfe]) {
        wide(u16::from_le_bytes)
    } else if bytes.starts_with(&[0xfe, 0xff]) {
        wide(u16::from_be_bytes)
    } else {
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).map(<[u8]>::to_vec).unwrap_or(bytes);
        String::from_utf8(bytes).unwrap_or_else(|error| {
            error.into_bytes().iter().map(|&byte| if byte.is_ascii() { char::from(byte) } else { '?' }).collect()
        })
    };
    let end = text.trim_end_matches(|c: char| c == '\u{1a}' || c.is_whitespace()).len();
    if text[end..].contains('\u{1a}') {
        text.truncate(end);
    }
    text
}

/// Returns the error that a compilation has too many files.
fn too_many_files(span: Span) -> Diagnostic {
    let error = Diagnostic::error("too-deep", span, format!("more than {FILES_MAX} files belong to this compilation"));
    error.help("compile some of them apart, or join small ones")
}
