//! The folders of references.

use obvia_idl::tools::doc::{Page, WriteError, write};
use std::path::Path;

fn page(name: &str, text: &str) -> Page {
    Page { name: name.to_owned(), text: text.to_owned() }
}

/// Returns the visible files of a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| !name.starts_with('.'));
    names.sort();
    names
}

#[test]
fn a_later_run_replaces_the_files_of_an_earlier_one() {
    let ground = ground::Folder::new("idl-doc-later");
    let folder = ground.join("new/reference");
    write(&[page("index.html", "1"), page("old.html", "1")], &folder).unwrap();
    write(&[page("index.html", "2"), page("new.html", "2")], &folder).unwrap();
    assert_eq!(names(&folder), ["index.html", "new.html"]);
    assert_eq!(std::fs::read_to_string(folder.join("index.html")).unwrap(), "2");
}

#[test]
fn files_of_others_are_not_touched() {
    let ground = ground::Folder::new("idl-doc-others");
    let folder = ground.join("reference");
    let foreign = |folder: &Path| match write(&[page("index.html", "2")], folder) {
        Err(error @ WriteError::Foreign { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("index.html"), "mine").unwrap();
    let message = foreign(&folder);
    assert!(message.contains("index.html") && message.contains("empty folder"), "{message}");
    assert_eq!(std::fs::read_to_string(folder.join("index.html")).unwrap(), "mine");
    // A file that somebody has put beside the pages is not the tool's.
    std::fs::remove_file(folder.join("index.html")).unwrap();
    write(&[page("index.html", "1")], &folder).unwrap();
    std::fs::write(folder.join("notes.txt"), "mine").unwrap();
    assert!(foreign(&folder).contains("notes.txt"));
    assert_eq!(std::fs::read_to_string(folder.join("index.html")).unwrap(), "1");
}

#[test]
fn a_folder_that_is_a_file_is_an_error() {
    let ground = ground::Folder::new("idl-doc-file");
    std::fs::write(ground.join("reference"), "").unwrap();
    let error = write(&[page("index.html", "")], &ground.join("reference")).unwrap_err();
    assert!(matches!(&error, WriteError::Unwritable { path, .. } if path.ends_with("reference")), "{error}");
}

#[test]
fn links_in_the_place_of_pages_are_not_followed() {
    let ground = ground::Folder::new("idl-doc-links");
    let (folder, target) = (ground.join("reference"), ground.join("target"));
    write(&[page("index.html", "1")], &folder).unwrap();
    std::fs::write(&target, "mine").unwrap();
    std::fs::remove_file(folder.join("index.html")).unwrap();
    std::os::unix::fs::symlink(&target, folder.join("index.html")).unwrap();
    write(&[page("index.html", "2")], &folder).unwrap();
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(folder.join("index.html")).unwrap(), "2");
}
