//! The IDL file of a project with its imports: read, checked, and copied to the project's folder
//! `idl`.

use super::Language;
use super::fill::fill;
use super::names;
use super::write::File;
use anyhow::{Context, anyhow, bail};
use obvia_idl::model::{InterfaceId, Model};
use obvia_idl::source::Sources;
use obvia_idl::{Compilation, Compiler, Failure, canonical, emit, most_like};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The folder of a project's IDL files.
pub(super) const FOLDER: &str = "idl";

/// An IDL file and all its imports.
pub(super) struct Idl {
    pub(super) compilation: Compilation,
    /// The files by their paths in the project's folder, the main file first.
    files: Vec<File>,
    /// The project's include folders, for imports that are not beside the importing file.
    pub(super) includes: Vec<String>,
}

impl Idl {
    /// Reads a file. Imports are looked for beside the file, and in the `include` directories.
    pub(super) fn read(path: &Path, include: &[PathBuf]) -> anyhow::Result<Self> {
        let compiler = include.iter().fold(Compiler::new(), Compiler::include);
        let compilation = compiler.check(path).map_err(|failure| wrong(path, &failure))?;
        let (files, includes) = gather(&compilation.sources, include)?;
        Ok(Self { compilation, files, includes })
    }

    /// Creates a new file with a small interface, and an interface that its clients implement.
    pub(super) fn begin(name: &str) -> anyhow::Result<Self> {
        names::check_project(name).map_err(anyhow::Error::msg)?;
        let texts = [
            ("name", name.to_owned()),
            ("interface", names::interface(name)),
            ("uuid", random_uuid()?),
            ("events_uuid", random_uuid()?),
        ];
        let text = fill(include_str!("new.idl.in"), &texts);
        let path = PathBuf::from(format!("{name}.idl"));
        let compilation = Compiler::new().check_text(&path, &text).map_err(|failure| wrong(&path, &failure))?;
        Ok(Self { compilation, files: vec![File::new(path, text)], includes: Vec::new() })
    }

    pub(super) fn model(&self) -> &Model {
        &self.compilation.model
    }

    /// Returns the main file's name.
    pub(super) fn main(&self) -> String {
        self.files.first().map_or_else(String::new, |file| file.path.display().to_string())
    }

    /// Returns the main file's name without folders and extension, the stem of generated names.
    pub(super) fn stem(&self) -> String {
        Path::new(&self.compilation.name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Returns the files by their paths in a project.
    pub(super) fn files(&self) -> Vec<File> {
        self.files.iter().map(|file| File::new(Path::new(FOLDER).join(&file.path), file.bytes.clone())).collect()
    }

    /// Returns the paths of the files that are compiled, which are those that end in `.idl`.
    pub(super) fn compiled(&self) -> impl Iterator<Item = String> {
        let paths = self.files.iter().map(|file| Path::new(FOLDER).join(&file.path));
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "idl"))
            .map(|path| path.display().to_string())
    }

    /// Returns the remotable interfaces: the main file's interfaces, except local ones.
    pub(super) fn interfaces(&self) -> Vec<InterfaceId> {
        let model = self.model();
        let is_remote = |id: &InterfaceId| model.lineage(*id).iter().all(|id| !model.interfaces[id.0].local);
        let own = (0..model.interfaces.len()).map(InterfaceId).filter(|id| !model.interfaces[id.0].imported);
        own.filter(is_remote).collect()
    }

    /// Finds a remotable interface by its name.
    pub(super) fn interface(&self, name: &str) -> Result<InterfaceId, String> {
        let interfaces = self.interfaces();
        let name_of = |id: &InterfaceId| self.model().interfaces[id.0].name.as_str();
        if let Some(found) = interfaces.iter().find(|id| name_of(id) == name) {
            return Ok(*found);
        }
        let names: Vec<&str> = interfaces.iter().map(name_of).collect();
        let meant = most_like(name, names.iter().copied()).map(|other| format!("; did you mean `{other}`?"));
        let file = &self.compilation.name;
        Err(format!(
            "{file} declares no interface `{name}` that other processes can call; it declares {}{}",
            names.join(", "),
            meant.unwrap_or_default()
        ))
    }

    /// Reports the parts of the files that a language's back end does not support.
    pub(super) fn check_for(&self, language: Language) -> Result<(), String> {
        let refused = match language {
            Language::Rust => emit::rust::emit(&self.compilation).map(drop),
            Language::Cpp => emit::c::emit(&self.compilation, &self.stem()).map(drop),
        };
        refused.map_err(|diagnostics| {
            let found: Vec<String> = diagnostics.iter().map(|found| found.render(&self.compilation.sources)).collect();
            format!(
                "{} uses features that are not supported in this language yet:\n{}",
                self.compilation.name,
                found.join("\n\n")
            )
        })
    }

    /// Checks that the written files declare the same interfaces as the files that were read.
    pub(super) fn check(&self, output: &Path) -> anyhow::Result<()> {
        let folder = output.join(FOLDER);
        let includes = self.includes.iter().map(|include| output.join(include));
        let compiler = includes.fold(Compiler::new(), Compiler::include);
        let written = compiler.check(&folder.join(self.main())).map_err(|failure| wrong(&folder, &failure))?;
        let fingerprints = |model: &Model| -> Vec<u128> {
            (0..model.interfaces.len()).map(|at| canonical::fingerprint(model, InterfaceId(at))).collect()
        };
        if fingerprints(&written.model) != fingerprints(self.model()) {
            bail!(
                "the interfaces in {} differ from those of {}: was the file changed?",
                folder.display(),
                self.compilation.name
            );
        }
        Ok(())
    }
}

fn wrong(path: &Path, failure: &Failure) -> anyhow::Error {
    anyhow!("{} does not compile:\n{}", path.display(), failure.to_string().trim_end())
}

/// Returns the files with their paths in a project, relative to the main file's folder or to an
/// include directory, and the include folders of the project.
fn gather(sources: &Sources, include: &[PathBuf]) -> anyhow::Result<(Vec<File>, Vec<String>)> {
    let include: Vec<PathBuf> = include.iter().map(|path| plain(path)).collect::<anyhow::Result<_>>()?;
    let on_disk = sources.files().iter().filter(|file| file.role.is_on_disk());
    let paths = on_disk.map(|file| file.path.as_path());
    let paths: Vec<(&Path, PathBuf)> = paths.map(|path| Ok((path, plain(path)?))).collect::<anyhow::Result<_>>()?;
    let Some(beside) = paths.first().and_then(|(_, path)| path.parent()) else { bail!("the compilation has no file") };
    // If an import lies outside of the main file's folder and of the include directories, the root
    // of the copied files becomes the lowest folder that contains the import and the main file.
    let included = |path: &Path| {
        include
            .iter()
            .filter_map(|folder| path.strip_prefix(folder).ok())
            .min_by_key(|rest| rest.as_os_str().len())
            .map(Path::to_owned)
    };
    let mut root = beside;
    for (_, path) in &paths {
        while !path.starts_with(root) && included(path).is_none() {
            let Some(above) = root.parent() else { bail!("{} has no parent directory", path.display()) };
            root = above;
        }
    }
    let is_there =
        |folder: &&PathBuf| folder.as_path() != root && paths.iter().any(|(_, path)| path.starts_with(folder));
    let inside = include.iter().filter(is_there).filter_map(|folder| folder.strip_prefix(root).ok());
    let mut includes: Vec<String> = inside.map(|folder| Path::new(FOLDER).join(folder).display().to_string()).collect();
    let is_outside = paths.iter().any(|(_, path)| !path.starts_with(root));
    if is_outside || include.iter().any(|folder| folder == root) {
        includes.push(FOLDER.to_owned());
    }
    let mut files = Vec::<File>::new();
    for (read, path) in &paths {
        let place = path.strip_prefix(root).map_or_else(|_| included(path).unwrap_or_default(), Path::to_owned);
        let is_usual = |letter: char| letter.is_ascii_alphanumeric() || "._-/".contains(letter);
        if !place.to_str().is_some_and(|text| text.chars().all(is_usual)) {
            bail!("{}: the names of a project's IDL files may have only letters, digits, ., _ and -", read.display());
        }
        if files.iter().any(|other| other.path == place) {
            bail!("{}: two files would be written to {FOLDER}/{}", read.display(), place.display());
        }
        let bytes = std::fs::read(read).with_context(|| format!("{} cannot be read", read.display()))?;
        files.push(File::new(place, bytes));
    }
    if files.first().is_none_or(|file| file.path.extension().is_none_or(|ending| ending != "idl")) {
        bail!("{}: the name of an IDL file has to end in .idl", paths[0].0.display());
    }
    Ok((files, includes))
}

/// Returns an absolute path without `.` and `..`.
pub(super) fn plain(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("{} is not a path", path.display()))?;
    Ok(path.components().fold(PathBuf::new(), |mut plain, part| {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
        plain
    }))
}

/// Creates a random UUID (RFC 9562 5.4).
fn random_uuid() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    let random = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    random.context("reading /dev/urandom for a UUID")?;
    let random = u128::from_be_bytes(bytes);
    let versioned = random & !(0xf << 76 | 0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    Ok(obvia::dynamic::guid::to_text(&obvia::GUID::from_u128(versioned)))
}

#[cfg(test)]
mod tests {
    use super::{Idl, random_uuid};
    use crate::wizard::Language;
    use std::path::PathBuf;

    /// A folder of files, removed on drop.
    struct Folder(ground::Folder);

    impl Folder {
        fn new(test: &str, files: &[(&str, &str)]) -> Self {
            let folder = ground::Folder::new(&format!("wizard-{test}"));
            for (name, text) in files {
                let path = folder.join(name);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            Self(folder)
        }

        fn read(&self, name: &str, include: &[&str]) -> anyhow::Result<Idl> {
            let include: Vec<PathBuf> = include.iter().map(|name| self.0.join(name)).collect();
            Idl::read(&self.0.join(name), &include)
        }

        /// Writes the files to the folder `out`, and compiles them there.
        fn check_copy(&self, idl: &Idl) {
            let output = self.0.join("out");
            for file in idl.files() {
                let path = output.join(file.path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, file.bytes).unwrap();
            }
            idl.check(&output).unwrap();
        }
    }

    const ONE: &str =
        "[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)] interface IOne : IUnknown { HRESULT One(); }";

    fn places(idl: &Idl) -> Vec<&str> {
        idl.files.iter().map(|file| file.path.to_str().unwrap()).collect()
    }

    #[test]
    fn imports_and_side_files_are_copied_to_the_project() {
        let one = format!("import \"unknwn.idl\", \"parts/part.idl\", \"far.idl\";{ONE}");
        let files = [
            ("a/one.idl", one.as_str()),
            ("a/parts/part.idl", ""),
            ("a/one.acf", "interface IOne {}"),
            ("b/far.idl", ""),
        ];
        let folder = Folder::new("along", &files);
        let idl = folder.read("a/one.idl", &["b", "b/none"]).unwrap();
        assert_eq!(places(&idl), ["one.idl", "parts/part.idl", "far.idl", "one.acf"]);
        assert_eq!(idl.includes, ["idl"]);
        assert!(folder.read("a/one.idl", &[]).is_err());
        folder.check_copy(&idl);
    }

    #[test]
    fn import_directories_below_the_idl_file_are_kept() {
        let one = format!("import \"near.idl\";{ONE}");
        let folder = Folder::new("near", &[("one.idl", &one), ("parts/near.idl", ""), ("other/x.idl", "")]);
        let idl = folder.read("one.idl", &["parts", "other"]).unwrap();
        assert_eq!(
            (places(&idl), &idl.includes[..]),
            (vec!["one.idl", "parts/near.idl"], &["idl/parts".to_owned()][..])
        );
        folder.check_copy(&idl);
    }

    #[test]
    fn upward_import_paths_are_kept_in_the_copy() {
        let one = format!("import \"../b/far.idl\";{ONE}");
        let folder = Folder::new("upwards", &[("x/a/one.idl", &one), ("x/b/far.idl", "const long N = 1;")]);
        let idl = folder.read("x/a/one.idl", &[]).unwrap();
        assert_eq!((places(&idl), idl.main().as_str()), (vec!["a/one.idl", "b/far.idl"], "a/one.idl"));
        folder.check_copy(&idl);
        std::fs::write(folder.0.join("out/idl/a/one.idl"), one.replace("One()", "One([in] long n)")).unwrap();
        assert!(idl.check(&folder.0.join("out")).unwrap_err().to_string().contains("differ from those of one.idl"));
    }

    #[test]
    fn idl_file_names_unsafe_for_builds_are_refused() {
        let folder = Folder::new("names", &[("my one.idl", ONE), ("one.txt", ONE)]);
        let error = folder.read("my one.idl", &[]).err().unwrap().to_string();
        assert!(error.contains("my one.idl") && error.contains("may have only letters"), "{error}");
        assert!(folder.read("one.txt", &[]).err().unwrap().to_string().contains("has to end in .idl"));
    }

    #[test]
    fn the_wizard_offers_the_callable_interfaces_of_the_file() {
        let local = ONE.replace("object", "object, local").replace("IOne", "ILocal").replace("7b01", "7b02");
        let both = format!("{ONE}{local}");
        let folder = Folder::new("own", &[("both.idl", &both)]);
        let idl = folder.read("both.idl", &[]).unwrap();
        assert_eq!(idl.interfaces(), [idl.interface("IOne").unwrap()]);
        let error = idl.interface("IOn").unwrap_err();
        assert_eq!(
            error,
            "both.idl declares no interface `IOn` that other processes can call; it declares IOne; did you mean `IOne`?"
        );
    }

    #[test]
    fn new_idl_files_compile_to_rust_and_cpp() {
        let idl = Idl::begin("file-server").unwrap();
        assert_eq!(idl.interfaces().last(), idl.interface("IFileServer").ok().as_ref());
        for language in [Language::Rust, Language::Cpp] {
            idl.check_for(language).unwrap();
        }
        assert!(Idl::begin("File Server").is_err());
        let uuid = random_uuid().unwrap();
        assert_eq!((uuid.len(), &uuid[14..15]), (36, "4"));
        assert!("89ab".contains(&uuid[19..20]));
        assert_ne!(uuid, random_uuid().unwrap());
    }
}
