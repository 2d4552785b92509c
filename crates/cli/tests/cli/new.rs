//! Tests of `obvia new` as users run it. `cargo xtask test wizard cmake java` builds and runs the
//! projects.

use crate::running::Directory;
use crate::wizard::{checkout, files, has, is_filled};

#[test]
fn a_new_project_has_every_part_in_each_language() {
    let checkout = checkout();
    for (language, object, parts) in [
        (
            "rust",
            "src/component.rs",
            ["src/bin/file-server-server.rs", "src/bin/file-server-client.rs", "tests/calls.rs"],
        ),
        ("c", "src/component.c", ["src/server.c", "src/client.c", "tests/calls.c"]),
        ("cpp", "src/component.hpp", ["src/server.cc", "src/client.cc", "tests/calls.cc"]),
        (
            "java",
            "src/main/java/file_server/Component.java",
            [
                "src/main/java/file_server/Server.java",
                "src/main/java/file_server/Client.java",
                "src/test/java/file_server/CallsTest.java",
            ],
        ),
    ] {
        let directory = Directory::new();
        let output = directory.path().join("made");
        let arguments = ["new", "file-server", "-l", language, "--obvia", &checkout, "-o", output.to_str().unwrap()];
        let said = directory.obvia(&arguments).good();
        let made = files(&output);
        assert_eq!(said.lines().filter(|line| line.starts_with("wrote ")).count(), made.len(), "{said}");
        assert!(said.ends_with("made/README.md describes how to build and run the project\n"), "{said}");
        has(&made, "idl/file-server.idl", "interface IFileServer : IUnknown {\n");
        has(&made, object, "the sum is too large");
        has(&made, "README.md", "obvia call file-server IFileServer.Watch");
        assert!(parts.iter().all(|part| made.contains_key(*part)), "{language}: {:?}", made.keys());
        is_filled(&made);
        // The files of a second project have other UUIDs, so they do not replace the files of the
        // first.
        assert!(directory.obvia(&arguments).bad().contains("nothing was written"));
    }
}

#[test]
fn the_projects_of_all_languages_have_the_same_interface() {
    let (directory, checkout) = (Directory::new(), checkout());
    let texts = ["rust", "c", "cpp", "java"].map(|language| {
        let output = directory.path().join(language);
        directory.obvia(&["new", "calc", "-l", language, "--obvia", &checkout, "-o", output.to_str().unwrap()]).good();
        let text = std::fs::read_to_string(output.join("idl/calc.idl")).unwrap();
        // Each project has UUIDs of its own.
        let lines = text.lines().filter(|line| !line.contains("uuid("));
        lines.map(str::to_owned).collect::<Vec<_>>()
    });
    assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
}

#[test]
fn wrong_names_and_places_of_new_projects_are_usage_errors() {
    let directory = Directory::new();
    let output = directory.path().join("made");
    for (arguments, why) in [
        (&["File Server", "-l", "rust"][..], "is not a valid name of a project"),
        (&["test", "-l", "c"], "because the name is reserved"),
        (&["native", "-l", "java"], "a project in Java cannot be called `native`"),
        (&["java", "-l", "java"], "a project in Java cannot be called `java`"),
        (&["string", "-l", "c"], "its header would hide string.h of the system"),
        (&["pthread", "-l", "cpp"], "its header would hide pthread.h of the system"),
        (&["spawn", "-l", "c"], "its header would hide spawn.h of the system"),
        (&["unknwn", "-l", "c"], "its header would hide unknwn.h of obvia"),
        (&["component", "-l", "c"], "a project in C cannot be called `component`"),
        (&["calc"], "--language"),
    ] {
        let more = ["-o", output.to_str().unwrap()];
        let error = directory.obvia(&[&["new"], arguments, &more].concat()).bad_with(2);
        assert!(error.contains(why), "{arguments:?}: {error}");
    }
    assert!(!output.exists());
}
