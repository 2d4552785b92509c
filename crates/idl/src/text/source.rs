//! Source files and places in them.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub(crate) u16);

/// A range of bytes in a file.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// The offset of the range's first byte.
    pub start: u32,
    /// The offset of the byte after the range's last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from the start of this span to the end of another. Returns this span if the
    /// other span is in another file or ends before this one starts.
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
    /// The path from which the file was read.
    pub path: PathBuf,
    /// The file's text.
    pub text: String,
    /// The file's role.
    pub role: Role,
}

/// The role of a file in a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An IDL file that was named or imported.
    Idl,
    /// A text that replaces an `#include` of another file.
    Included,
    /// A side file of another file.
    SideFile,
    /// A file that is built into the compiler, and is not on disk.
    BuiltIn,
    /// The words that macros have made by `#` and `##`. No file contains them.
    Made,
}

impl Role {
    /// Whether the file is on disk.
    pub const fn is_on_disk(self) -> bool {
        !matches!(self, Self::BuiltIn | Self::Made)
    }
}

/// The files of one compilation.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<File>,
    /// For each text that no file contains, its start, and the place for which the text was made.
    uses: Vec<(u32, Span)>,
    /// The files with declarations, in the order of their resolution: imports first.
    resolved: Vec<FileId>,
}

impl Sources {
    /// Adds a file. `None` if there are too many files, or if the file is too long for spans.
    pub(crate) fn add(&mut self, path: &Path, text: String, role: Role) -> Option<FileId> {
        let id = u16::try_from(self.files.len()).ok()?;
        u32::try_from(text.len()).ok()?;
        self.files.push(File { path: path.to_owned(), text, role });
        Some(FileId(id))
    }

    /// Adds a text that no file contains, and that was made for a place in a file. `None` if there
    /// are too many files, or too much text.
    pub(crate) fn made(&mut self, text: &str, place: Span) -> Option<Span> {
        let place = self.use_of(place);
        let known = self.files.iter().position(|file| file.role == Role::Made);
        let file = match known {
            Some(at) => FileId(at as u16),
            None => self.add(Path::new("<macros>"), String::new(), Role::Made)?,
        };
        let all = &mut self.files[usize::from(file.0)].text;
        let start = u32::try_from(all.len()).ok()?;
        let end = u32::try_from(all.len() + text.len()).ok()?;
        all.push_str(text);
        all.push('\n');
        self.uses.push((start, place));
        Some(Span { file, start, end })
    }

    /// Returns the place for which a text was made, if no file contains the text. Any other place
    /// is returned unchanged.
    pub(crate) fn use_of(&self, span: Span) -> Span {
        let is_made = self.files.get(usize::from(span.file.0)).is_some_and(|file| file.role == Role::Made);
        let later = self.uses.partition_point(|(start, _)| *start <= span.start);
        match later.checked_sub(1).filter(|_| is_made) {
            Some(at) => self.uses[at].1,
            None => span,
        }
    }

    /// Returns the file to which a declaration belongs. If the declaration stands in an included
    /// file, this is the including file, which was read before the included file.
    pub(crate) fn importing(&self, span: Span) -> FileId {
        let file = self.use_of(span).file;
        let is_importable = |id: &FileId| matches!(self.file(*id).role, Role::Idl | Role::BuiltIn);
        (0..=file.0).rev().map(FileId).find(is_importable).unwrap_or(file)
    }

    /// Sets the order in which the files' declarations are resolved.
    pub(crate) fn set_resolved(&mut self, files: impl Iterator<Item = FileId>) {
        self.resolved = files.collect();
    }

    /// Returns the files with declarations, in the order of their resolution: imports first.
    pub(crate) fn resolved(&self) -> &[FileId] {
        &self.resolved
    }

    /// Marks a file as imported: sets its role to [`Role::Idl`].
    pub(crate) fn import(&mut self, id: FileId) {
        self.files[usize::from(id.0)].role = Role::Idl;
    }

    /// Returns a file.
    pub fn file(&self, id: FileId) -> &File {
        &self.files[usize::from(id.0)]
    }

    /// Returns all files, in the order in which they were read.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// Returns the file with this path, if there is one.
    pub(crate) fn find(&self, path: &Path) -> Option<FileId> {
        let at = self.files.iter().position(|file| file.path == path)?;
        Some(FileId(at as u16))
    }

    /// Returns the text of a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Returns the line of a span's start, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        let before = self.file(span.file).text.get(..span.start as usize).unwrap_or("");
        before.bytes().filter(|&byte| byte == b'\n').count() + 1
    }
}
