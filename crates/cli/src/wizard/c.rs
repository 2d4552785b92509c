//! Generation of projects in C.

use super::answers::Answers;
use super::cpp::{build, find};
use super::fill::fill;
use super::project::{commands, texts};
use super::write::File;

/// Returns the files of a new project.
pub(super) fn files(answers: &Answers) -> Vec<File> {
    let name = &answers.name;
    let [server, client] = ["server", "client"].map(|program| format!("build/{name}-{program}"));
    let mut all = texts(answers, &answers.component(), &client);
    let files: Vec<String> = answers.idl.compiled().collect();
    all.extend([
        ("commands", commands(&build(&answers.origin), ["ctest --test-dir build", &server, &client], name)),
        ("find", find(&answers.origin)),
        ("files", files.join(" ")),
    ]);
    all.push(("watcher", fill(include_str!("c/watcher.in"), &all)));
    let file = |path: &str, template| File::new(path, fill(template, &all));
    let mut files = vec![
        file("CMakeLists.txt", include_str!("c/CMakeLists.txt.in")),
        file("src/component.h", include_str!("c/component.h.in")),
        file("src/component.c", include_str!("c/component.c.in")),
        file("src/server.c", include_str!("c/server.c.in")),
        file("src/client.c", include_str!("c/client.c.in")),
        file("tests/calls.c", include_str!("c/calls.c.in")),
        file("README.md", include_str!("c/README.md.in")),
        file(".gitignore", include_str!("c/gitignore.in")),
    ];
    files.extend(answers.idl.files());
    files
}
