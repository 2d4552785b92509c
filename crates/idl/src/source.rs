//! Source files and places in them.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file among those of one compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u16);

/// A stretch of a file, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The first byte.
    pub start: u32,
    /// The byte behind the last.
    pub end: u32,
}

impl Span {
    /// From the start of this span to the end of another.
    pub fn to(self, other: Self) -> Self {
        if self.file == other.file && other.end > self.start { Self { end: other.end, ..self } } else { self }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}..{}", self.file.0, self.start, self.end)
    }
}

/// One source file.
#[derive(Debug)]
pub struct File {
    /// The path it was read from.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// What it is.
    pub role: Role,
}

/// What a file is in a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// IDL that was named or imported.
    Idl,
    /// Text that stands in the place of another file's `#include`.
    Included,
    /// Another file's side file.
    SideFile,
    /// What the compiler brings along, which is no file.
    BuiltIn,
}

/// The files of one compilation.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<File>,
}

impl Sources {
    /// Adds a file. `None` when there are too many, or it is too long for spans.
    pub(crate) fn add(&mut self, path: &Path, text: String, role: Role) -> Option<FileId> {
        let id = u16::try_from(self.files.len()).ok()?;
        u32::try_from(text.len()).ok()?;
        self.files.push(File { path: path.to_owned(), text, role });
        Some(FileId(id))
    }

    /// Takes a file for one that is imported, whatever it has been until now.
    pub(crate) fn import(&mut self, id: FileId) {
        self.files[usize::from(id.0)].role = Role::Idl;
    }

    /// A file.
    pub fn file(&self, id: FileId) -> &File {
        &self.files[usize::from(id.0)]
    }

    /// Every file, in the order they were read.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The file with this path.
    pub(crate) fn find(&self, path: &Path) -> Option<FileId> {
        let at = self.files.iter().position(|file| file.path == path)?;
        Some(FileId(at as u16))
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The line of a span's start, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        let before = self.file(span.file).text.get(..span.start as usize).unwrap_or("");
        before.bytes().filter(|&byte| byte == b'\n').count() + 1
    }
}
