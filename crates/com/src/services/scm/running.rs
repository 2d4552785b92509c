//! The running servers of classes on this host.

use super::names::{SERVICE, class_of};
use crate::services::process;
use crate::types::error::Result;
use windows_core::GUID;

/// A class that a process of this user has registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// The CLSID of the class.
    pub class: GUID,
    /// The id of the process, if it could be read.
    pub pid: Option<u32>,
}

/// Returns the classes that processes of this user have registered now.
///
/// # Errors
///
/// If the directory of names cannot be read.
pub fn running() -> Result<Vec<Running>> {
    let entries = process::runtime()?.directory().list()?;
    Ok(entries
        .into_iter()
        .filter_map(|entry| Some(Running { class: class_of(&entry.name)?, pid: entry.pid }))
        .collect())
}

/// Returns the id of the process that is this user's SCM, if there is one.
///
/// # Errors
///
/// If the directory of names cannot be read.
pub fn service() -> Result<Option<u32>> {
    let entries = process::runtime()?.directory().list()?;
    Ok(entries.into_iter().find(|entry| entry.name == SERVICE).and_then(|entry| entry.pid))
}
