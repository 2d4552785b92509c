//! Generation of projects in Java.

use super::answers::Answers;
use super::fill::fill;
use super::project::{commands, texts};
use super::write::File;
use crate::exit;
use obvia_idl::emit;

/// The versions of obvia's modules and of JUnit, which are those of `java/pom.xml`.
const OBVIA: &str = "0.1.0-SNAPSHOT";
const JUNIT: &str = "6.1.3";

/// Returns the files of a new project.
pub(super) fn files(answers: &Answers) -> anyhow::Result<Vec<File>> {
    let name = &answers.name;
    let package = name.replace('-', "_");
    if !emit::java::is_package(&package) {
        return Err(exit::usage(format!("a project in Java cannot be called `{name}`, because the name is reserved")));
    }
    let checkout = answers.origin.checkout("Java")?.display().to_string();
    let run = |program| format!("java -cp 'target/classes:target/dependency/*' {package}.{program}");
    let (server, client) = (run("Server"), run("Client"));
    let mut all = texts(answers, &answers.component(), &client);
    all.extend([
        ("commands", commands(&[], ["mvn package", &server, &client], name)),
        ("checkout", checkout),
        ("junit", JUNIT.to_owned()),
        ("package", package.clone()),
        ("version", OBVIA.to_owned()),
    ]);
    let file = |path: &str, template| File::new(path, fill(template, &all));
    let class =
        |folder: &str, name: &str, template| file(&format!("src/{folder}/java/{package}/{name}.java"), template);
    let mut files = vec![
        file("pom.xml", include_str!("java/pom.xml.in")),
        class("main", "Component", include_str!("java/Component.java.in")),
        class("main", "Server", include_str!("java/Server.java.in")),
        class("main", "Client", include_str!("java/Client.java.in")),
        class("test", "CallsTest", include_str!("java/CallsTest.java.in")),
        file("README.md", include_str!("java/README.md.in")),
        file(".gitignore", include_str!("java/gitignore.in")),
    ];
    files.extend(answers.idl.files());
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::{JUNIT, OBVIA};

    #[test]
    fn new_projects_use_the_versions_of_the_modules() {
        let parent = include_str!("../../../../java/pom.xml");
        assert!(parent.contains(&format!("<artifactId>obvia-parent</artifactId>\n  <version>{OBVIA}</version>")));
        assert!(
            parent.contains(&format!("<artifactId>junit-jupiter</artifactId>\n        <version>{JUNIT}</version>"))
        );
        let project = include_str!("java/pom.xml.in");
        for artifact in ["maven-compiler-plugin", "maven-surefire-plugin"] {
            let (_, text) = parent.split_once(&format!("<artifactId>{artifact}</artifactId>")).unwrap();
            let version = text.split("</version>").next().unwrap().trim();
            assert!(project.contains(&format!("<artifactId>{artifact}</artifactId>\n        {version}")), "{artifact}");
        }
    }
}
