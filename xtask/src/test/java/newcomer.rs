//! Follows docs/java.md like a newcomer: takes the files from the page, runs the page's commands,
//! and compares their output. Also builds and tests a project of `obvia new`.

use crate::maven::{BRIEF, repository};
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::{Names, Server};
use crate::test::readme::{Newcomer, write};
use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = "docs/java.md";

/// A project on the page.
struct Project {
    /// The heading of the part of the page that describes the project.
    heading: &'static str,
    name: &'static str,
    files: &'static [&'static str],
    /// The IDL file, if there is one, and a line of this file that the test makes wrong.
    idl: Option<(&'static str, &'static str)>,
}

const PROJECTS: [Project; 2] = [
    Project {
        heading: "## A first project",
        name: "calc",
        files: &[
            "pom.xml",
            "src/main/idl/calc.idl",
            "src/main/java/calc/Server.java",
            "src/main/java/calc/Client.java",
        ],
        idl: Some(("src/main/idl/calc.idl", "HRESULT Add(")),
    },
    Project {
        heading: "## A first project without IDL",
        name: "chat",
        files: &[
            "pom.xml",
            "src/main/java/chat/Room.java",
            "src/main/java/chat/Guest.java",
            "src/main/java/chat/Server.java",
            "src/main/java/chat/Client.java",
        ],
        idl: None,
    },
];

/// The command on the page that builds a project.
const BUILD: &str = "mvn package";

/// The command for the part of a build that compiles IDL.
const GENERATE: &str = "mvn generate-sources";

/// Builds and runs all projects. Their dependencies must be installed.
pub(super) fn run(home: &Path) -> Outcome {
    let page = page()?;
    PROJECTS.iter().try_for_each(|project| project.run(&page, home))?;
    build_new(home)
}

/// Builds all projects, so that Maven downloads the files that it needs.
pub(super) fn prepare(home: &Path) -> Outcome {
    let page = page()?;
    PROJECTS.iter().try_for_each(|project| project.build(&page, home).map(drop))?;
    build_new(home)
}

/// Builds a project of `obvia new`. The build runs the project's test.
fn build_new(home: &Path) -> Outcome {
    let folder = target().join("newcomer-java/new");
    let [output, checkout] = [&folder, &root()].map(|path| path.display().to_string());
    let obvia = target().join("debug/obvia").display().to_string();
    let arguments = ["new", "greeter", "--language", "java", "--force", "--output", &output, "--obvia", &checkout];
    Program::new(&obvia, &arguments).read()?;
    Names::new()?.see(Shell { home, folder }.command(BUILD)).read().map(drop)
}

/// Reads the page.
fn page() -> Outcome<String> {
    fs::read_to_string(root().join(PAGE)).map_err(|error| Problem::Failed(format!("{PAGE}: {error}")))
}

impl Project {
    fn run(&self, page: &str, home: &Path) -> Outcome {
        let (newcomer, shell) = self.build(page, home)?;
        self.change(&shell)?;
        let [server, client] = commands(&newcomer.printing)?;
        let names = Names::new()?;
        let _server = Server::start(&names.see(shell.command(&server)))?;
        newcomer.compare(&names.see(shell.command(&client)).read()?)
    }

    /// Creates and builds the project as the page describes.
    fn build<'a>(&self, page: &str, home: &'a Path) -> Outcome<(Newcomer, Shell<'a>)> {
        let text = part(page, self.heading)?;
        let newcomer = Newcomer::read(PAGE, text, self.files)?;
        let folder = target().join("newcomer-java").join(self.name);
        write(&newcomer.files, &folder)?;
        let shell = Shell { home, folder };
        if !text.contains(&format!("`{BUILD}`")) {
            return Err(Problem::Failed(format!("{PAGE} does not have `{BUILD}` under {}", self.heading)));
        }
        shell.command(BUILD).read()?;
        Ok((newcomer, shell))
    }

    /// Checks that a second build compiles no IDL, and that a build with a wrong IDL file reports
    /// the place of the error.
    fn change(&self, shell: &Shell<'_>) -> Outcome {
        let Some((path, line)) = self.idl else { return Ok(()) };
        let build = |wanted: &str| {
            let printed = shell.command(GENERATE).read_all()?;
            if printed.contains(wanted) {
                return Ok(());
            }
            Err(Problem::Failed(format!("the build of {} was to say `{wanted}` and says\n{printed}", self.name)))
        };
        build("Nothing to compile: no IDL file has changed")?;
        let file = shell.folder.join(path);
        let failed = |error: std::io::Error| Problem::Failed(format!("{}: {error}", file.display()));
        let text = fs::read_to_string(&file).map_err(failed)?;
        let at = 1 + text.lines().take_while(|other| !other.contains(line)).count();
        fs::write(&file, text.replace(line, "HRESULT Add([wrong] ")).map_err(failed)?;
        build(&format!("{}:{at}:", file.display()))?;
        fs::write(&file, text).map_err(failed)?;
        build("Compiled 1 of 1 IDL files")
    }
}

/// A project's folder, and the environment of its commands.
struct Shell<'a> {
    home: &'a Path,
    folder: PathBuf,
}

impl Shell<'_> {
    /// Returns a command of the page. Only the location of the local repository is added.
    fn command(&self, words: &str) -> Program {
        let words = words.replacen("mvn ", "mvn --batch-mode -Dmaven.repo.local=\"$MAVEN_REPOSITORY\" ", 1);
        let path = std::env::var("PATH").unwrap_or_default();
        let (obvia, java) = (target().join("debug"), self.home.join("bin"));
        Program::new("sh", &["-c", &format!("exec {words}")])
            .folder(&self.folder)
            .variable("JAVA_HOME", self.home.display().to_string())
            .variable("MAVEN_OPTS", BRIEF)
            .variable("MAVEN_REPOSITORY", repository().display().to_string())
            .variable("PATH", format!("{}:{}:{path}", obvia.display(), java.display()))
    }
}

/// Returns a part of the page, up to the next heading of the same level.
fn part<'a>(page: &'a str, heading: &str) -> Outcome<&'a str> {
    let missing = || Problem::Failed(format!("{PAGE} has no part `{heading}`"));
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).ok_or_else(missing)?;
    Ok(rest.split("\n## ").next().unwrap_or_default())
}

/// Returns the two commands in a line such as: With `server` in one terminal, in another `client`
/// prints:
fn commands(line: &str) -> Outcome<[String; 2]> {
    let quoted: Vec<String> = line.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    quoted.try_into().map_err(|_| Problem::Failed(format!("{PAGE}: `{line}` does not have two commands")))
}

#[cfg(test)]
mod tests {
    use super::{commands, part};

    #[test]
    fn parts_and_commands_of_the_java_page_are_found() {
        let page = "# Java\n\n## A\n\nx\n\n### B\n\ny\n\n## C\n";
        assert_eq!(part(page, "## A"), Ok("\nx\n\n### B\n\ny\n"));
        assert!(part(page, "## D").is_err());
        assert_eq!(commands("With `a b` here, `c` prints:"), Ok(["a b".to_owned(), "c".to_owned()]));
        assert!(commands("`a` prints:").is_err());
    }
}
