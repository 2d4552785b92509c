//! A file of a few kilobytes must not keep the compiler busy for long, exhaust memory or crash the
//! compiler. Such a file is refused with an error that names a line.
//!
//! The processor time for a file is compared with the time for a plain file of the same size. So
//! the tests also pass on slow and busy computers.

mod large;

use obvia_idl::{Compilation, Compiler, Failure, emit};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;
use std::path::Path;
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

/// The factor by which a file may take longer than a plain file of the same size.
const SLOWER_MAX: u32 = 20;
/// The time that a file may take in addition, because short times cannot be measured well.
const GRACE: Duration = Duration::from_secs(5);
/// The time after which a compilation counts as endless.
const PATIENCE: Duration = Duration::from_secs(200);
/// The maximum number of bytes of output for each byte of IDL.
const LARGER_MAX: usize = 2_000;
/// The number of bytes of output that every file may produce.
const LARGE: usize = 4 << 20;

/// Returns a file with an interface whose method passes a type.
fn with_method(types: &str, param: &str) -> String {
    format!(
        "import \"unknwn.idl\";\n{types}\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]\ninterface IX : IUnknown {{ HRESULT M({param}); }}\n"
    )
}

/// Returns lines that are made from numbers.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(|at| line(at) + "\n").collect()
}

/// Writes a file in every language, and returns the number of bytes of output.
fn made_of(compilation: &Compilation) -> usize {
    let rust = emit::rust::emit(compilation).map_or(0, |text| text.len());
    let c =
        emit::c::emit(compilation, "a").map_or(0, |made| made.header.len() + made.stubs.len() + made.projection.len());
    let java =
        emit::java::emit(compilation, "a", None).map_or(0, |made| made.files.iter().map(|(_, text)| text.len()).sum());
    rust + c + java
}

/// Compiles a text to every language.
fn compile(text: &str) -> Result<usize, Failure> {
    Compiler::new().check_text(Path::new("x.idl"), text).map(|compilation| made_of(&compilation))
}

/// Returns the processor time that this thread has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

/// Returns the time for a plain file of this size, scaled from a measurement with some kilobytes.
fn plain_time(bytes: usize) -> Duration {
    static ONE: LazyLock<(usize, Duration)> = LazyLock::new(|| {
        let text = lines(300, |at| format!("struct Plain{at:05} {{ long first; double second; short third; }};"));
        let begin = processor_time();
        compile(&text).unwrap_or_else(|failure| panic!("{failure}"));
        (text.len(), processor_time() - begin)
    });
    ONE.1 * u32::try_from(bytes / ONE.0 + 1).expect("files are small")
}

/// Compiles a file in about the time that a plain file takes, on a stack of the default size for
/// threads.
fn quickly(name: &str, text: String) -> Result<usize, Failure> {
    let limit = plain_time(text.len()) * SLOWER_MAX + GRACE;
    let bytes = text.len();
    let (done, outcome) = mpsc::channel();
    let thread = std::thread::Builder::new().name(name.to_owned());
    let compiled = move || done.send((compile(&text), processor_time()));
    thread.spawn(compiled).expect("threads can be had");
    let outcome = outcome.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{name}: {error} after {PATIENCE:?}"));
    let (outcome, took) = outcome;
    assert!(took <= limit, "{name}: took {took:?} of the processor, not {limit:?}");
    if let Ok(written) = &outcome {
        assert!(*written <= LARGE + bytes * LARGER_MAX, "{name}: {written} bytes are made of {bytes}");
    }
    outcome
}

#[track_caller]
fn accepted(name: &str, text: String) {
    quickly(name, text).unwrap_or_else(|failure| panic!("{name}: {failure}"));
}

/// Checks that a file is refused, and that the first error has this code and line.
#[track_caller]
fn refused(name: &str, text: String, code: &str, line: usize) -> Failure {
    let failure = quickly(name, text).err().unwrap_or_else(|| panic!("{name}: nothing is found wrong"));
    let first = &failure.diagnostics[0];
    let found = first.span.map(|span| failure.sources.line(span));
    assert_eq!((first.code, found), (code, Some(line)), "{name}: {failure}");
    failure
}

#[test]
fn doubling_types_are_limited() {
    let doubling = |first: &str, count| {
        format!("struct S0 {{ {first} a; }};\n")
            + &lines(count, |at| format!("struct S{} {{ struct S{at} a; struct S{at} b; }};", at + 1))
    };
    accepted("twelve levels of numbers", with_method(&doubling("long", 12), "[in] struct S12 *s"));
    accepted("ten levels of pointers", with_method(&doubling("long *", 10), "[in] struct S10 *s"));
    refused("forty levels of numbers", with_method(&doubling("long", 40), "[in] struct S40 *s"), "too-large", 15);
    refused("forty levels of pointers", with_method(&doubling("long *", 40), "[in] struct S40 *s"), "too-large", 15);
    let unions = "union U0 switch (long t) u { case 1: long *a; };\n".to_owned()
        + &lines(40, |at| {
            format!("union U{} switch (long t) u {{ case 1: union U{at} a; case 2: union U{at} b; }};", at + 1)
        });
    refused("forty levels of unions", with_method(&unions, "[in] union U40 *u"), "too-large", 14);
    let open = lines(1000, |at| {
        format!(
            "struct T{} {{ long t; [switch_is(t)] union {{ [case(1)] struct T{at} a; [case(2)] struct T{at} b; }} u; }};",
            at + 1
        )
    });
    refused("a thousand levels of unions", format!("struct T0 {{ long *a; }};\n{open}"), "too-large", 13);
}

#[test]
fn repetitions_within_a_declaration_cost_linear_time() {
    let failed = |name: &str, text: String| {
        let failure = quickly(name, text).err().unwrap_or_else(|| panic!("{name}: nothing is found wrong"));
        failure.diagnostics[0].code
    };
    let unnamed = lines(20_000, |_| "struct { long a; };".to_owned());
    assert_eq!(failed("unnamed members", format!("struct S {{\n{unnamed} }};")), "too-large");
    let attributes = vec!["size_is(1)"; 4_000].join(", ");
    let names: Vec<String> = (0..4_000).map(|at| format!("a{at}")).collect();
    let members = format!("struct S {{ [{attributes}] long {}; }};", names.join(", "));
    assert_eq!(failed("members with many attributes", members), "too-large");
    let methods = |at| lines(100, |method| format!("// a*/\nHRESULT M{method}([in] long a{at});"));
    let interfaces = lines(40, |at| {
        let uuid = format!("0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f{at:04x}");
        format!("[object, uuid({uuid})] interface I{at} : IUnknown {{\n{}\n}}", methods(at))
    });
    accepted("comments that end like blocks", format!("import \"unknwn.idl\";\n{interfaces}"));
    let arrays: Vec<String> = (0..1022).map(|at| format!("*a{at}")).collect();
    let members = format!("struct S {{ long n; [unique, size_is(n)] long {}; }};", arrays.join(", "));
    accepted("arrays of one count", with_method(&members, "[in] struct S *s"));
    let stars = "*".repeat(256);
    let text = with_method("", "").replace("HRESULT M", &format!("HRESULT {stars}M"));
    refused("many stars before a method", text, "too-deep", 4);
    let texts = lines(16, |at| {
        let of = if at == 0 { "BSTR".to_owned() } else { format!("T{}", at - 1) };
        format!("typedef {of} ****************T{at};")
    });
    refused("many stars of a text", format!("import \"oaidl.idl\";\n{texts}"), "too-deep", 4);
}

#[test]
fn nested_types_are_limited() {
    let chain = |count| {
        "struct S0 { long a; };\n".to_owned() + &lines(count, |at| format!("struct S{} {{ struct S{at} a; }};", at + 1))
    };
    accepted("sixty levels", with_method(&chain(60), "[in] struct S60 *s"));
    refused("a thousand levels", with_method(&chain(1000), "[in] struct S1000 *s"), "too-deep", 66);
    let inline = "struct S { ".repeat(1000);
    refused("a thousand braces", inline, "too-deep", 1);
    refused(
        "twenty thousand dimensions",
        format!("const long A = 1;\nstruct S {{ long a{}; }};", "[1]".repeat(20_000)),
        "too-deep",
        2,
    );
    refused("twenty thousand stars", format!("struct S {{ long {}a; }};", "*".repeat(20_000)), "too-deep", 1);
    let typedefs = "typedef long A0;\n".to_owned() + &lines(2000, |at| format!("typedef A{at} *A{};", at + 1));
    refused("two thousand typedefs", typedefs, "too-deep", 34);
    let arrays = "typedef long A0;\n".to_owned() + &lines(2000, |at| format!("typedef A{at} A{}[1];", at + 1));
    refused("two thousand typedefs of arrays", arrays, "too-deep", 34);
    for (name, expression) in [
        ("parentheses", format!("{}1{}", "(".repeat(30_000), ")".repeat(30_000))),
        ("signs", format!("{}1", "-".repeat(30_000))),
        ("sums", vec!["1"; 30_000].join("+")),
        ("choices", "1 ? 2 : ".repeat(30_000) + "3"),
    ] {
        refused(name, format!("const long A =\n{expression};"), "too-deep", 2);
    }
}

#[test]
fn mutually_recursive_types_are_accepted() {
    let announced = lines(400, |at| format!("struct S{at};"));
    let link = |at: usize, name: &str| format!("struct S{} *{name};", at % 400);
    let ring = lines(400, |at| format!("struct S{at} {{ {} long z; }};", link(at + 1, "a")));
    accepted("a ring", with_method(&(announced.clone() + &ring), "[in] struct S0 *s"));
    let tree = lines(400, |at| format!("struct S{at} {{ {} {} long z; }};", link(2 * at, "a"), link(2 * at + 1, "b")));
    accepted("a closed tree", with_method(&(announced + &tree), "[in] struct S0 *s"));
}

#[test]
fn repeated_text_constants_are_limited() {
    let text = "a".repeat(30_000);
    let twice = |ty: &str, value: &str| {
        format!("const {ty} *T =\n{value}\"{text}\";\n") + &lines(1100, |at| format!("const {ty} *T{at} = T;"))
    };
    refused("as a constant", twice("char", ""), "too-large", 36);
    refused("as a wide constant", twice("wchar_t", "L"), "too-large", 36);
    let defaults = lines(1000, |at| format!("[id({at})] HRESULT M{at}([in, defaultvalue(T)] BSTR a);"));
    let called = "import \"oaidl.idl\";\n[object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]\n";
    let called = |with: &str| format!("{called}interface IX : IDispatch {{\n{with}}}\n");
    let constant = format!("const wchar_t *T = L\"{text}\";\n");
    refused("as a default value", constant.clone() + &called(&defaults), "too-large", 38);
    let helps = lines(1000, |at| format!("[id({at}), helpstring(T)] HRESULT M{at}();"));
    let by_macro = format!("#define T \"{text}\"\n");
    refused("as help", by_macro + &called(&helps), "too-long", 727);
    accepted("ten times", constant + &called(&defaults.lines().take(10).collect::<String>()));
}

#[test]
fn code_for_many_strings_and_arrays_grows_linearly() {
    let params = |count: usize, param: &str| {
        let each = |at: usize| param.replace('#', &at.to_string());
        (0..count).map(each).collect::<Vec<_>>().join(", ")
    };
    for (name, count, param) in [
        ("strings", 240, "[in, string] char *a#"),
        ("arrays", 120, "[in] long n#, [in, size_is(n#)] boolean *a#"),
        ("strings that come back", 240, "[out, string] char **a#"),
    ] {
        let bytes =
            quickly(name, with_method("", &params(count, param))).unwrap_or_else(|found| panic!("{name}: {found}"));
        let of_few =
            quickly(name, with_method("", &params(count / 12, param))).unwrap_or_else(|found| panic!("{found}"));
        // The factor allows for the part of the output that every file has.
        assert!(bytes < 20 * of_few, "{name}: {bytes} bytes, and {of_few} of a twelfth");
    }
}

#[test]
fn the_bytes_of_read_files_are_limited() {
    let folder = ground::Folder::new("idl-bytes");
    let path = |name: &str| folder.join(name);
    let write = |name: &str, text: &str| std::fs::write(path(name), text).expect("the folder can be written to");
    let said = |name: &str| Compiler::new().check(&path(name)).expect_err("it is too much").to_string();
    // The files are sparse, so that they take no space on the disk.
    for name in ["sparse.idl", "sparse.h"] {
        let file = std::fs::File::create(path(name)).expect("the folder can be written to");
        file.set_len(1 << 33).expect("files may have holes");
    }
    write("import.idl", "import \"sparse.idl\";");
    write("include.idl", "#include \"sparse.h\"\n");
    for (name, large) in [("sparse.idl", "sparse.idl"), ("import.idl", "sparse.idl"), ("include.idl", "sparse.h")] {
        let said = said(name);
        assert!(said.contains("too-large") && said.contains(large) && said.contains("16777216 bytes"), "{said}");
    }
    // Each imported file stays within the limit of inclusions, but all of them together exceed it.
    write("some.h", &" ".repeat(1 << 20));
    for at in 0..20 {
        write(&format!("part{at}.idl"), "#include \"some.h\"\n");
    }
    write("all.idl", &(0..20).map(|at| format!("import \"part{at}.idl\";\n")).collect::<String>());
    assert!(
        said("all.idl").contains("with `some.h`, the included files have more than 16777216 bytes in all"),
        "{}",
        said("all.idl")
    );
}

#[test]
fn declarations_of_one_kind_are_limited() {
    refused("members", format!("struct S {{\n{}}};", lines(16_000, |at| format!("long a{at};"))), "too-large", 1026);
    refused("members of one name", format!("struct S {{\n{}}};", "long a;\n".repeat(16_000)), "duplicate-name", 3);
    refused(
        "arms",
        format!("union U switch (long t) u {{\n{}}};", lines(16_000, |at| format!("case {at}: long a{at};"))),
        "too-large",
        1026,
    );
    refused(
        "arms without members",
        format!("union U switch (long t) u {{\ndefault: long a;\n{}}};", lines(60_000, |at| format!("case {at}:;"))),
        "too-large",
        1,
    );
    accepted("values", format!("enum E {{ {} }};", lines(5_000, |at| format!("E{at} = {at},"))));
    accepted(
        "constants",
        lines(5_000, |at| {
            format!("const long C{at} = {};", if at == 0 { "1".to_owned() } else { format!("C{} + 1", at - 1) })
        }),
    );
    let params: Vec<String> = (0..30_000).map(|at| format!("[in] long a{at}")).collect();
    refused("parameters", with_method("", &params.join(",\n")), "too-large", 254);
    let methods = lines(70_000, |at| format!("HRESULT M{at}();"));
    refused("methods", with_method("", "").replace("HRESULT M();", &methods), "too-many-methods", 1025);
    let named = format!("const long {} = 1;", "A".repeat(100_000));
    refused("a name", named, "too-long", 1);
    let uses = lines(1000, |at| format!("struct S{at} {{ enum E e; }};"));
    let values = lines(10_000, |at| format!("E{at} = {at},"));
    refused(
        "checks of many values",
        format!("enum E {{ {} }};\n{}", values.replace('\n', " "), uses),
        "too-large",
        185,
    );
}

#[test]
fn type_sizes_are_limited() {
    refused("too many elements", "struct S {\nlong a[65536][65536];\n};".to_owned(), "too-large", 2);
    let nested = "struct A { long a[16777216]; };\nstruct B { struct A a[16777216]; };".to_owned();
    refused("too many structures", nested, "too-large", 2);
    refused("a typedef", "typedef long A[65536];\ntypedef A B[65536];".to_owned(), "too-large", 2);
    let params: Vec<String> = (0..10).map(|at| format!("[in] struct A *a{at}")).collect();
    let text = with_method("struct A { hyper a[16777216]; };", &params.join(","));
    refused("a call", text.clone(), "too-large", 4);
    let behind = text.replace("struct A { hyper a[16777216]; };", "struct A;") + "struct A { hyper a[16777216]; };\n";
    refused("a call with what is declared behind it", behind, "too-large", 4);
}

#[test]
fn at_most_a_hundred_errors_are_reported() {
    let failure = refused("types", lines(70_000, |at| format!("struct S{at} {{ lnog a; }};")), "unknown-type", 1);
    let text = failure.to_string();
    assert_eq!(failure.diagnostics.len(), 101);
    assert!(text.trim_end().ends_with("and 69900 more errors, which are not shown"), "{}", &text[text.len() - 300..]);
    let one_line = lines(7_000, |at| format!("struct S{at} {{ lnog a; }};")).replace('\n', " ");
    let failure = refused("types in one line", one_line, "unknown-type", 1);
    assert!(failure.to_string().len() < 100_000, "{} bytes", failure.to_string().len());
    let twice = lines(7_000, |_| "const long A = 1;".to_owned()).replace('\n', " ");
    let text = refused("names in one line", twice, "duplicate-name", 1).to_string();
    assert!(text.contains("x.idl:1:30") && text.len() < 100_000, "{}", &text[..1000]);
}

#[test]
fn binary_input_is_refused_with_one_error() {
    let once = |name: &str, text: String| {
        let failure = refused(name, text, "unknown-character", 1);
        assert_eq!(failure.diagnostics.len(), 1, "{name}: {failure}");
        assert!(failure.to_string().len() < 1000, "{name}: {failure}");
    };
    once("zeros", "\0".repeat(100_000));
    once(
        "zeros between letters",
        "import \"unknwn.idl\";\r\n".chars().fold(String::new(), |mut text, c| {
            let _ = write!(text, "{c}\0");
            text
        }),
    );
    once("control characters", "long \u{1} \u{2} \u{3}\n\u{4}\n".repeat(1000));
}
