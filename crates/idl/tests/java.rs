//! What the Java back end writes compiles against the runtime without a warning, and what it cannot do it refuses.

use obvia_idl::{Compiler, emit};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The first version of Java that the code is for.
const JAVA: u32 = 25;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A compiler that is new enough: that of `JAVA_HOME`, one that is installed, or the usual one.
fn javac() -> Option<PathBuf> {
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut candidates: Vec<PathBuf> = named.into_iter().chain(installed).map(|home| home.join("bin/javac")).collect();
    candidates.push("javac".into());
    candidates.into_iter().find(|path| version(path).is_some_and(|version| version >= JAVA))
}

/// The version of a compiler, as it says itself: `javac 25.0.3`.
fn version(javac: &Path) -> Option<u32> {
    let said = Command::new(javac).arg("-version").output().ok()?.stdout;
    String::from_utf8(said).ok()?.trim().strip_prefix("javac ")?.split(['.', '-']).next()?.parse().ok()
}

/// The Java files below a folder, without descriptions of modules: all is compiled as one.
fn java_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            files.extend(java_files(&path));
        } else if path.extension().is_some_and(|found| found == "java") && !path.ends_with("module-info.java") {
            files.push(path);
        }
    }
    files
}

#[test]
fn the_code_compiles_without_a_warning() {
    let Some(javac) = javac() else {
        assert!(std::env::var_os("CI").is_none(), "there is no JDK {JAVA}: install one, or set JAVA_HOME");
        eprintln!("there is no JDK {JAVA}, so nothing is compiled: install one, or set JAVA_HOME");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("java");
    let _ = std::fs::remove_dir_all(&folder);
    let idls = [
        "crates/idl/tests/golden/java/forms.idl",
        "crates/idl/tests/golden/post.idl",
        "examples/calc/calc.idl",
        "examples/pfs/pfs.idl",
        "testing/hostile/victim.idl",
    ];
    let mut sources = Vec::new();
    for idl in idls {
        let compiled = obvia_idl::compile_into(&Compiler::new(), obvia_idl::Language::Java, &root().join(idl), &folder);
        sources.extend(compiled.unwrap_or_else(|failure| panic!("{failure}")).files);
    }
    for module in ["obvia-api", "obvia-runtime"] {
        sources.extend(java_files(&root().join("java").join(module).join("src/main/java")));
    }
    let mut command = Command::new(javac);
    // What has no descriptions of modules exports everything.
    command.args(["-Xlint:all", "-Werror", "--release", &JAVA.to_string(), "-d"]).arg(folder.join("classes"));
    let output = command.args(sources).output().expect("it has said its version");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

/// What is said of an IDL text that Java cannot do.
fn refused(text: &str) -> Vec<String> {
    let text = format!("import \"unknwn.idl\"; import \"oaidl.idl\"; {text}");
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let refused = emit::java::emit(&compilation, "a", None).expect_err("it is refused");
    refused.into_iter().map(|finding| finding.message).collect()
}

const HEAD: &str = "[object, uuid(d3a1b2c4-1111-4222-8333-944455566701)] interface IA";

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    let automation = refused(&format!("{HEAD} : IDispatch {{ HRESULT M(); }}"));
    assert_eq!(automation, ["interface `IA` extends IDispatch: the Java back end does not do that yet"]);
    let bstr = refused(&format!("{HEAD} : IUnknown {{ HRESULT M([in] BSTR text); }}"));
    assert!(bstr[0].contains("`text` that is one of Automation's types"), "{bstr:?}");
}

#[test]
fn what_is_left_out_is_said() {
    let text = format!("import \"unknwn.idl\"; [local]{HEAD} : IUnknown {{ HRESULT M(); }}");
    let text = text.replacen("[local][", "[local, ", 1);
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).unwrap_or_else(|wrong| panic!("{wrong}"));
    let made = emit::java::emit(&compilation, "a", Some("org.example")).expect("it is made");
    assert_eq!(made.left_out.len(), 1);
    assert!(made.left_out[0].message.contains("`IA` is [local]"), "{:?}", made.left_out);
    let names: Vec<&Path> = made.files.iter().map(|(name, _)| name.as_path()).collect();
    assert_eq!(names, [Path::new("org/example/AIdl.java")]);
}
