//! The source of obvia for generated projects.

use crate::exit;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};

/// The source from which a project takes obvia.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A checkout of obvia's repository.
    Checkout(PathBuf),
    /// An installation by CMake in this directory.
    Installation(PathBuf),
    /// An installed package, which CMake has to find.
    Version,
}

/// Paths by which a checkout is recognized.
const CHECKOUT: [&str; 3] = ["crates/com/Cargo.toml", "crates/idl/Cargo.toml", "bindings/cmake"];
/// The path by which an installation is recognized, in one of `LIBRARIES`.
const PACKAGE: &str = "cmake/obvia/obviaConfig.cmake";
const LIBRARIES: [&str; 2] = ["lib", "lib64"];

impl Origin {
    /// Finds obvia at the given path, or else in a parent folder of the running program.
    pub(crate) fn find(given: Option<&Path>) -> anyhow::Result<Self> {
        let Some(given) = given else {
            // A program without a path has no ancestors, so that the result is `Version`.
            let program = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
            return Ok(program.ancestors().skip(1).find_map(Self::at).unwrap_or(Self::Version));
        };
        let path = given.canonicalize().with_context(|| format!("--obvia {}", given.display()))?;
        let Some(found) = Self::at(&path) else {
            bail!(
                "--obvia {}: the directory is neither a checkout of obvia, which has {}, nor an installation, which \
                    has {}/{PACKAGE}",
                given.display(),
                CHECKOUT[0],
                LIBRARIES[0]
            );
        };
        Ok(found)
    }

    /// Returns the checkout for a project in a language whose packages come from a registry.
    ///
    /// # Errors
    ///
    /// Fails if obvia is not a checkout: in a registry, packages of these names may belong to other
    /// projects.
    pub(super) fn checkout(&self, language: &str) -> anyhow::Result<&Path> {
        match self {
            Self::Checkout(path) => Ok(path),
            Self::Installation(_) | Self::Version => Err(exit::usage(format!(
                "a project in {language} takes obvia from a checkout of its repository, because no version is \
                    published: name one by --obvia DIR"
            ))),
        }
    }

    /// Recognizes a checkout or an installation at a path; `None` if there is neither.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let is_installed = || LIBRARIES.iter().any(|lib| path.join(lib).join(PACKAGE).is_file());
        if CHECKOUT.iter().all(|inside| path.join(inside).exists()) {
            Some(Self::Checkout(path.to_owned()))
        } else {
            is_installed().then(|| Self::Installation(path.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Origin;
    use std::path::Path;

    #[test]
    fn the_wizard_recognises_a_checkout() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        assert_eq!(Origin::find(Some(&root)).unwrap(), Origin::Checkout(root.clone()));
        assert_eq!(Origin::at(&root.join("crates")), None);
    }

    #[test]
    fn installations_are_recognised_by_their_cmake_package() {
        let folder = ground::Folder::new("wizard");
        let prefix = folder.path().to_owned();
        let package = prefix.join("lib64/cmake/obvia");
        std::fs::create_dir_all(&package).unwrap();
        let error = Origin::find(Some(&prefix)).unwrap_err().to_string();
        assert!(error.contains("neither a checkout of obvia") && error.contains("nor an installation"), "{error}");
        std::fs::write(package.join("obviaConfig.cmake"), "").unwrap();
        let found = Origin::find(Some(&prefix)).unwrap();
        let refused =
            [found.checkout("Rust"), Origin::Version.checkout("Java")].map(|refused| refused.unwrap_err().to_string());
        assert!(refused.iter().all(|refused| refused.contains("--obvia DIR")), "{refused:?}");
        assert_eq!(found, Origin::Installation(prefix.canonicalize().unwrap()));
        std::fs::remove_dir_all(&prefix).unwrap();
        assert!(Origin::find(Some(&prefix)).is_err());
    }
}
