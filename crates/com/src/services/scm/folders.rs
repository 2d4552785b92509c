//! The folders with registrations: those of this user and of the system.

use super::registration::Class;
use crate::types::error::{Error, Result, code};
use crate::types::guid;
use crate::types::plain_file::{self, Readers, about, is_missing};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use windows_core::GUID;

/// The environment variable with the folders, separated by colons, that replace the default
/// folders. Registrations are written to the first folder.
pub const VARIABLE: &str = "OBVIA_CLASSES";

/// The path of the folder within a user's or the system's data directory.
const FOLDER: &str = "obvia/classes.d";
/// The suffix of the names of registration files, which follows the CLSID.
const ENDING: &str = ".class";
/// The greatest number of registrations that are read from one folder.
const FILES_MAX: usize = 10_000;

/// Returns the folders in the order of precedence.
fn folders() -> Vec<PathBuf> {
    let variable = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty());
    if let Some(all) = variable(VARIABLE) {
        return std::env::split_paths(&all).filter(|path| path.is_absolute()).collect();
    }
    let home = || variable("HOME").map(|home| Path::new(&home).join(".local/share"));
    let own = variable("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or_else(home);
    let system = ["/etc", "/usr/local/share", "/usr/share"].map(PathBuf::from);
    own.into_iter().chain(system).map(|path| path.join(FOLDER)).collect()
}

fn file_of(folder: &Path, id: &GUID) -> PathBuf {
    folder.join(format!("{}{ENDING}", guid::to_text(id)))
}

/// Reads a registration; `None` where there is no such file. Only this user or root may be able to
/// write the file, since the programs that the file names run as this user.
fn read(path: &Path) -> Result<Option<Class>> {
    let Some(text) = plain_file::read(path, Readers::Everybody)? else { return Ok(None) };
    let class = text.parse().map_err(|error: Error| error.with_detail(|what| format!("{}: {what}", path.display())))?;
    Ok(Some(class))
}

/// Returns the registration of a class and its file; `None` for an unregistered class.
///
/// # Errors
///
/// E_INVALIDARG for an invalid registration, or for one that another user could have written.
pub fn find(class: &GUID) -> Result<Option<(Class, PathBuf)>> {
    for folder in folders() {
        let path = file_of(&folder, class);
        let Some(found) = read(&path)? else { continue };
        if found.id != *class {
            return Err(about(&path, format!("is the registration of another class, {}", guid::to_text(&found.id))));
        }
        return Ok(Some((found, path)));
    }
    Ok(None)
}

/// Returns every registered class with its file, or the error in the registration.
pub fn classes() -> Vec<(PathBuf, Result<Class>)> {
    let mut found: BTreeMap<u128, (PathBuf, Result<Class>)> = BTreeMap::new();
    for folder in folders() {
        let names = fs::read_dir(&folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.file_name()));
        for id in names.filter_map(id_of).take(FILES_MAX) {
            let path = file_of(&folder, &id);
            let class = match read(&path) {
                Ok(None) => continue,
                Ok(Some(class)) if class.id != id => {
                    Err(about(&path, format!("is the registration of another class, {}", guid::to_text(&class.id))))
                }
                Ok(Some(class)) => Ok(class),
                Err(error) => Err(error),
            };
            found.entry(id.to_u128()).or_insert((path, class));
        }
    }
    found.into_values().collect()
}

/// Returns the CLSID in the name of a registration file; `None` for other names.
fn id_of(name: OsString) -> Option<GUID> {
    let text = name.to_str()?.strip_suffix(ENDING)?;
    guid::parse(text).filter(|id| guid::to_text(id) == text)
}

/// Registers a class for this user, replacing its earlier registration. Returns the file that was
/// written.
///
/// # Errors
///
/// E_INVALIDARG for values that a registration file cannot contain; an I/O error if the file cannot
/// be written.
pub fn install(class: &Class) -> Result<PathBuf> {
    let text = class.to_string();
    if text.parse::<Class>()? != *class {
        return Err(Error::new(
            code::E_INVALIDARG,
            "the registration cannot be written: a value has to be one line without spaces around it",
        ));
    }
    let folder =
        folders().into_iter().next().ok_or_else(|| about(Path::new(FOLDER), "this user has no home directory"))?;
    let path = file_of(&folder, &class.id);
    write(&folder, &path, text.as_bytes()).map_err(|error| about(&path, error))?;
    Ok(path)
}

/// Writes a file atomically: readers see either the old contents or the new ones.
fn write(folder: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let fresh = path.with_extension(format!("{}.new", std::process::id()));
    // An earlier process with the same id may have left the file.
    let _ = fs::remove_file(&fresh);
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o644).open(&fresh)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    written
}

/// Removes a registration of this user. Returns its file; `None` where there was none.
///
/// # Errors
///
/// If the file cannot be removed.
pub fn remove(class: &GUID) -> Result<Option<PathBuf>> {
    let Some(folder) = folders().into_iter().next() else { return Ok(None) };
    let path = file_of(&folder, class);
    match fs::remove_file(&path) {
        Ok(()) => Ok(Some(path)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(about(&path, error)),
    }
}
