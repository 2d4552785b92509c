//! Builds and tests the Java side with Maven, and follows the instructions of docs/java.md.

mod newcomer;
mod packages;

use crate::maven::{BRIEF, maven};
use crate::outcome::{Outcome, Problem};
use crate::program::{Program, target};
use crate::repo::root;
use crate::server::Names;
use crate::{fuzz_java, reproduce_java, tools, workspace};
use std::path::Path;

/// The modules of the build on which programs do not depend.
const NOT_LIBRARIES: [&str; 2] = ["obvia-bom", "obvia-maven-plugin"];

/// The fuzzing time for each reader of untrusted bytes in a thorough run, in seconds.
const FUZZ_SECONDS: &str = "30";

/// Short tests that make Maven download the files that it needs for running tests.
const FIRST_TEST: &str = "-Dtest=FormatsTest,RoutesTest";

pub(super) fn run() -> Outcome {
    let home = tools::jdk()?;
    let names = Names::new()?;
    let libraries = libraries()?;
    names.see(install(&home)?.argument(brief_tests())).run()?;
    look_for_internals(&home, &libraries)?;
    packages::check(&home, &libraries)?;
    newcomer::run(&home)
}

/// Makes Maven download all files that a run needs, so that the run itself needs no network.
pub(crate) fn prepare() -> Outcome {
    let home = tools::jdk()?;
    let few = [FIRST_TEST, "-Dsurefire.failIfNoSpecifiedTests=false"];
    Names::new()?.see(install(&home)?.with(&few)).run()?;
    newcomer::prepare(&home)?;
    super::web::run(&home, &few)
}

/// Runs the tests in random order, in Java virtual machines with default options. With these
/// options, the virtual machines' compilers optimize more than in other runs. Then fuzzes the
/// readers, and checks that two builds of the published artifacts are identical.
pub(crate) fn thorough() -> Outcome {
    let home = tools::jdk()?;
    let names = Names::new()?;
    names.see(install(&home)?.argument("-Dsurefire.runOrder=random")).run()?;
    super::web::run(&home, &["-Dsurefire.runOrder=random"])?;
    fuzz_java::main(&[FUZZ_SECONDS.to_owned()])?;
    reproduce_java::main(&[])
}

/// Builds the contents of obvia-native's jar, and returns Maven's command that builds, tests and
/// installs the modules.
fn install(home: &Path) -> Outcome<Program> {
    workspace::build()?;
    let library = format!("-Dobvia.library.folder={}", target().join("debug").display());
    Ok(maven(home).with(&["--quiet", "--file", "java/pom.xml", &library, "install"]))
}

/// Returns Maven's option that passes [`BRIEF`] to Java virtual machines: those that run tests, and
/// those that tests start.
fn brief_tests() -> String {
    format!("-Dobvia.test.options={BRIEF}")
}

/// Returns the modules on which programs depend. The BOM must have the versions of exactly these
/// modules.
fn libraries() -> Outcome<Vec<String>> {
    let read = |path: &str| {
        std::fs::read_to_string(root().join(path)).map_err(|error| Problem::Failed(format!("{path}: {error}")))
    };
    compared(&read("java/pom.xml")?, &read("java/obvia-bom/pom.xml")?)
}

fn compared(project: &str, bom: &str) -> Outcome<Vec<String>> {
    // The modules of profiles come after the first list, and do not count.
    let built = elements(project.split("</modules>").next().unwrap_or_default(), "module");
    let libraries: Vec<_> = built.into_iter().filter(|module| !NOT_LIBRARIES.contains(&module.as_str())).collect();
    let listed = elements(bom.split_once("<dependencies>").unwrap_or_default().1, "artifactId");
    if listed == libraries {
        return Ok(libraries);
    }
    let (listed, libraries) = (listed.join(", "), libraries.join(", "));
    Err(Problem::Failed(format!("java/obvia-bom has {listed}; java/pom.xml builds, for others to use, {libraries}")))
}

/// Returns the contents of all elements with the name `name`.
fn elements(text: &str, name: &str) -> Vec<String> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    text.split(&start).skip(1).filter_map(|rest| Some(rest.split_once(&end)?.0.to_owned())).collect()
}

/// Fails if a library uses internal classes of the JDK, which may change or vanish.
fn look_for_internals(home: &Path, libraries: &[String]) -> Outcome {
    let jdeps = Program::new(&home.join("bin/jdeps").display().to_string(), &["--jdk-internals"]);
    let classes = |module: &String| root().join("java").join(module).join("target/classes").display().to_string();
    let printed = libraries.iter().map(classes).fold(jdeps, Program::argument).read()?;
    if printed.trim().is_empty() {
        return Ok(());
    }
    Err(Problem::Failed(format!("what is not for others is used:\n{printed}")))
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn the_java_bom_lists_every_library() {
        let project = "<modules><module>obvia-bom</module><module>a</module></modules><module>bench</module>";
        let bom = |name: &str| format!("<artifactId>x</artifactId><dependencies><artifactId>{name}</artifactId>");
        assert_eq!(compared(project, &bom("a")), Ok(vec!["a".to_owned()]));
        assert!(compared(project, &bom("b")).is_err());
        assert!(compared(project, "").is_err());
    }
}
