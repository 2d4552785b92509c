//! No declaration in C has the name of a macro of the headers that programs include.

use obvia_idl::{Compiler, emit};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The headers of C, the POSIX headers that most programs include, and the headers of libobvia.
const HEADERS: &str = "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign \
    stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype \
    arpa/inet dirent fcntl netdb poll pthread sys/mman sys/socket sys/stat sys/time sys/uio sys/wait unistd";

/// Returns the headers of a folder of this repository, with their folder.
fn headers(folder: &str) -> (PathBuf, Vec<String>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(&folder).expect("the folder exists");
    let names = entries.map(|entry| entry.expect("it can be read").file_name().into_string().expect("it is text"));
    let names = names.collect();
    (folder, names)
}

/// Returns the names of the macros that a program has after these headers. Macros whose replacement
/// is their own name are left out.
fn macros(
    variable: &str,
    compiler: &str,
    language: &[&str],
    headers: &[String],
    folders: &[&Path],
) -> BTreeSet<String> {
    let compiler = std::env::var_os(variable).unwrap_or_else(|| OsString::from(compiler));
    let mut command = Command::new(&compiler);
    command.args(language).args(["-D_GNU_SOURCE", "-E", "-dM", "-"]);
    folders.iter().for_each(|folder| _ = command.arg("-I").arg(folder));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("the compiler `{}` cannot be run: {error}", compiler.display()));
    let text: String = headers.iter().map(|header| format!("#include <{header}>\n")).collect();
    child.stdin.take().expect("it is a pipe").write_all(text.as_bytes()).expect("the compiler reads");
    let output = child.wait_with_output().expect("the compiler ends");
    assert!(output.status.success(), "{} {language:?}", compiler.display());
    let text = String::from_utf8(output.stdout).expect("macros are text");
    let of_line = |line: &str| {
        let (name, replacement) = line.strip_prefix("#define ")?.split_once(' ')?;
        let name = name.split('(').next().unwrap_or(name);
        (name != replacement).then(|| name.to_owned())
    };
    text.lines().filter_map(of_line).collect()
}

#[test]
fn declarations_have_no_names_of_macros() {
    let (in_c, own) = headers("../capi/include");
    let (in_cpp, wrappers) = headers("../../bindings/cpp/include");
    let standard = HEADERS.split(' ').map(|name| format!("{name}.h"));
    let all: Vec<String> = standard.chain(own).collect();
    let mut found = macros("CC", "cc", &["-x", "c", "-std=gnu17"], &all, &[&in_c]);
    found.extend(macros("CXX", "c++", &["-x", "c++", "-std=c++20"], &wrappers, &[&in_c, &in_cpp]));
    assert!(found.contains("M_PIl") && found.contains("CLASS_E_NOAGGREGATION"), "{found:?}");
    found.retain(|name| !name.starts_with('_') && !name.starts_with("PRI") && !name.starts_with("SCN") && name != "I");
    // `emit::c::is_name` accepts a macro's name only if a function or an enumerator has the same
    // name. Declarations in the same scope, such as these constants, then get another name.
    let shared: Vec<&String> = found.iter().filter(|name| emit::c::is_name(name)).collect();
    let text: String = shared.iter().map(|name| format!("const long {name} = 1;\n")).collect();
    let compilation = Compiler::new().check_text(Path::new("x.idl"), &text).unwrap_or_else(|error| panic!("{error}"));
    let header = emit::c::emit(&compilation, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    let words: BTreeSet<&str> = header.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let missing: Vec<_> = shared.iter().filter(|name| !words.contains(format!("{name}_").as_str())).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
