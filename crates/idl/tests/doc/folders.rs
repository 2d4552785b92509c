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
    // A file that a user has put beside the pages does not belong to the tool.
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
    assert!(matches!(&error, WriteError::NoFolder { path } if path.ends_with("reference")), "{error}");
    assert!(error.to_string().contains("name a new or empty folder"), "{error}");
}

#[test]
fn a_later_run_replaces_the_files_of_one_that_failed() {
    let ground = ground::Folder::new("idl-doc-failed");
    let folder = ground.join("reference");
    // The second page's folder is missing.
    let failing = [page("index.html", "1"), page("missing/a.html", "1")];
    assert!(matches!(write(&failing, &folder), Err(WriteError::Unwritable { .. })));
    write(&[page("index.html", "2")], &folder).unwrap();
    assert!(matches!(write(&failing, &folder), Err(WriteError::Unwritable { .. })));
    // A run that is interrupted while it writes the marker leaves the beginning of the next marker.
    std::fs::write(folder.join(".obvia-idl-doc.new"), "Made by").unwrap();
    write(&[page("index.html", "3")], &folder).unwrap();
    assert_eq!(names(&folder), ["index.html"]);
    let first = ground.join("first");
    std::fs::create_dir(&first).unwrap();
    std::fs::write(first.join(".obvia-idl-doc.new"), "").unwrap();
    write(&[page("index.html", "1")], &first).unwrap();
    // If the new marker cannot be written, the earlier marker stays.
    std::fs::create_dir(first.join(".obvia-idl-doc.new")).unwrap();
    write(&[page("index.html", "2")], &first).unwrap_err();
    std::fs::remove_dir(first.join(".obvia-idl-doc.new")).unwrap();
    write(&[page("index.html", "2")], &first).unwrap();
    assert_eq!(std::fs::read_to_string(first.join("index.html")).unwrap(), "2");
}

#[test]
fn markers_of_others_are_not_replaced() {
    let ground = ground::Folder::new("idl-doc-markers");
    let folder = ground.join("reference");
    write(&[page("index.html", "1")], &folder).unwrap();
    let marker = folder.join(".obvia-idl-doc");
    let genuine = std::fs::read(&marker).unwrap();
    std::fs::write(ground.join("target"), &genuine).unwrap();
    let is_foreign = || match write(&[page("index.html", "2")], &folder) {
        Err(WriteError::Foreign { file, .. }) => file == ".obvia-idl-doc",
        other => panic!("{other:?}"),
    };
    std::fs::write(&marker, "mine\nindex.html\n").unwrap();
    assert!(is_foreign());
    std::fs::write(&marker, [0xff, 0xfe]).unwrap();
    assert!(is_foreign());
    std::fs::remove_file(&marker).unwrap();
    std::os::unix::fs::symlink(ground.join("target"), &marker).unwrap();
    assert!(is_foreign());
    std::fs::remove_file(&marker).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &marker, rustix::fs::Mode::RUSR).unwrap();
    assert!(is_foreign());
    std::fs::remove_file(&marker).unwrap();
    std::fs::write(&marker, &genuine).unwrap();
    std::fs::OpenOptions::new().write(true).open(&marker).unwrap().set_len(1 << 40).unwrap();
    assert!(is_foreign());
    assert_eq!(std::fs::read_to_string(folder.join("index.html")).unwrap(), "1");
    std::fs::write(&marker, &genuine).unwrap();
    write(&[page("index.html", "2")], &folder).unwrap();
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
