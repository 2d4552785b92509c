//! The output of the C back end compiles as C and as C++ without warnings, and works: see
//! `c/plain.c`.

use obvia_idl::Compiler;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The language in which the code is compiled: the options, and the compiler with its environment
/// variable.
#[derive(Clone, Copy, Debug)]
struct Language {
    standard: &'static [&'static str],
    variable: &'static str,
    compiler: &'static str,
}

const C: Language = Language { standard: &["-x", "c", "-std=c11"], variable: "CC", compiler: "cc" };
const CPP: Language = Language { standard: &["-x", "c++", "-std=c++17"], variable: "CXX", compiler: "c++" };
/// Options that make hidden faults end the program. The vptr check is off because objects of other
/// languages have vtables without a C++ type.
const SANITIZED: [&str; 4] = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize=vptr", "-fno-sanitize-recover=all"];

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Runs a compiler. Panics with advice if there is none.
fn compile(language: Language, arguments: &[&str], files: &[PathBuf]) {
    let compiler = std::env::var_os(language.variable).unwrap_or_else(|| OsString::from(language.compiler));
    let mut command = Command::new(&compiler);
    command.args(language.standard).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror"]).args(arguments);
    for folder in ["c", "golden/c", "../../capi/include", "../../../bindings/cpp/include"] {
        command.arg("-I").arg(tests().join(folder));
    }
    let output = command.args(files).output();
    let output = output.unwrap_or_else(|error| {
        panic!("the compiler `{}` cannot be run: {error}; install one or set {}", compiler.display(), language.variable)
    });
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{language:?}, {files:?}:\n{said}");
}

fn golden(name: &str) -> PathBuf {
    tests().join("golden/c").join(name)
}

/// Returns a folder for a test's files, with the code that is generated for `c/plain.idl`.
fn folder_with_plain(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("the folder for builds can be written to");
    let written =
        obvia_idl::compile_into(&Compiler::new(), obvia_idl::Language::C, &tests().join("c/plain.idl"), &folder);
    written.unwrap_or_else(|failure| panic!("{failure}"));
    folder
}

/// Compiles a program, each file in its language, and runs it.
fn run(name: &str, language: Language, program: &str, stubs: &[&str], stubs_language: Language) {
    let folder = folder_with_plain(name);
    let include = format!("-I{}", folder.display());
    let mut objects = Vec::new();
    let place = |stub: &&str| Some(folder.join(stub)).filter(|own| own.exists()).unwrap_or_else(|| golden(stub));
    let sources = stubs.iter().map(|stub| (stubs_language, place(stub)));
    for (language, source) in sources.chain([(language, tests().join("c").join(program))]) {
        let object = folder.join(source.file_name().expect("it has a name")).with_extension("o");
        let mut arguments = SANITIZED.to_vec();
        arguments.extend(["-g", "-c", &include, "-o", object.to_str().expect("the path is text")]);
        compile(language, &arguments, &[source]);
        objects.push(object);
    }
    let linked = folder.join("program");
    let mut arguments = SANITIZED.to_vec();
    arguments.extend(["-o", linked.to_str().expect("the path is text")]);
    compile(Language { standard: &[], ..CPP }, &arguments, &objects);
    let output = Command::new(&linked).output().expect("it was just made");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && output.stdout == b"ok\n", "{name}:\n{said}");
}

#[test]
fn headers_and_stubs_compile_without_a_warning() {
    let (goldens, own) = (tests().join("golden/c"), folder_with_plain("headers"));
    let include = format!("-I{}", own.display());
    for (folder, name) in
        [(&goldens, "basis"), (&goldens, "functions"), (&goldens, "graphs"), (&goldens, "texts"), (&own, "plain")]
    {
        let compile = |language, ending| {
            compile(language, &["-fsyntax-only", &include], &[folder.join(format!("{name}{ending}"))]);
        };
        for language in [C, CPP] {
            compile(language, "_stubs.c");
            compile(language, ".h");
        }
        compile(CPP, "_values.hpp");
    }
}

#[test]
fn generated_c_code_passes_values_and_refuses_hostile_frames() {
    run("plain_in_c", C, "plain.c", &["basis_stubs.c", "plain_stubs.c"], C);
}

#[test]
fn generated_cpp_code_passes_values_and_refuses_hostile_frames() {
    run("plain_in_cpp", CPP, "plain.c", &["basis_stubs.c", "plain_stubs.c"], CPP);
}

#[test]
fn cpp_objects_have_the_vtables_that_c_stubs_expect() {
    run("basis_in_cpp", CPP, "basis.cc", &["basis_stubs.c"], C);
}

/// Declarations whose names are also names in the headers of the standard library and of POSIX: of
/// variables, members, functions, types, enumerators and macros.
const CONSTANTS: &str = "\
    import \"unknwn.idl\";
    const unsigned long count = 3;
    const long move = -2147483647 - 1;
    const unsigned long high = 0x80000000;
    const hyper wide = 0x123456789;
    const unsigned hyper max = 0xffffffffffffffff;
    const hyper min = -9223372036854775807 - 1;
    const char value = 200;
    const boolean first = 1;
    const long stdin = 1;
    const long index = 2;
    const double e = 2.5;
    const float data = 1;
    const char *name = \"title\";
    const wchar_t *text = L\"\u{e4}\";
    const double gamma = 0.5;
    const long environ = 1;
    const long pipe = 2;
    const long read = 3;
    typedef enum Access { close = 4, log = 5 } Access;
    typedef struct stat { long st_size; } stat;
    typedef struct link { long signal; } link;
    const double M_PI = 3;
    const long SOCK_STREAM = 10;
    const long wait = 20;
    typedef enum Limits { EINVAL = 30, INT_MAX, MAP_SHARED, WNOHANG, P_PID, NO_DATA, DT_DIR, FD_SET } Limits;
    typedef struct DIR { long POLLIN; } DIR;
    typedef struct hostent { long sa_flags; struct DIR mmap; } hostent;
    union FE_ALL_EXCEPT switch (long SIGINT) AF_INET { case 1: long O_RDONLY; };
    [object, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3e5)]
    interface ISeek : IUnknown {
        HRESULT S_ISREG([in] long SEEK_SET, [in] hostent *M_E, [in] enum Limits waitpid, [out] long *EOF);
    }
";

/// Headers that the generated code does not include.
const POSIX: &str = "\
    #include <arpa/inet.h>
    #include <dirent.h>
    #include <errno.h>
    #include <fcntl.h>
    #include <fenv.h>
    #include <limits.h>
    #include <math.h>
    #include <netdb.h>
    #include <poll.h>
    #include <pthread.h>
    #include <signal.h>
    #include <sys/mman.h>
    #include <sys/socket.h>
    #include <sys/stat.h>
    #include <sys/time.h>
    #include <sys/wait.h>
    #include <time.h>
    #include <unistd.h>
    #include <wchar.h>
";

const WITH_CONSTANTS_IN_C: &str = "\
    #include \"constants.h\"
    #include <stdio.h>
    #include <stdlib.h>
    #include <strings.h>
    _Static_assert(wide == 0x123456789 && max == UINT64_MAX && min == INT64_MIN && value == (char)200 && first, \"\");
    _Static_assert(pipe_ + read_ + environ_ + close_ + log_ + sizeof(stat_) == 15 + sizeof(link_), \"\");
    _Static_assert(SOCK_STREAM_ + wait_ + EINVAL_ + INT_MAX_ + P_PID_ + DT_DIR_ + sizeof(DIR_) == 165, \"\");
    _Static_assert(sizeof name == 6 && sizeof text == 4 && stdin_ + index_ == 3, \"\");
    int sizes[count];
    const char *const where = name;
    int chosen(unsigned at)
    {
        switch (at) {
        case high:
            return move;
        case count:
            return e > data;
        default:
            return sizes[0];
        }
    }
";

const WITH_CONSTANTS_IN_CPP: &str = "\
    #include \"constants.h\"
    #include <cstdlib>
    #include <memory>
    #include <vector>
    static_assert(wide == 0x123456789 && max == UINT64_MAX && min == INT64_MIN && first, \"\");
    static_assert(pipe_ + read_ + environ_ + close_ + log_ + gamma_ * 2 + sizeof(stat_) == 16 + sizeof(link_), \"\");
    static_assert(SOCK_STREAM_ + wait_ + EINVAL_ + INT_MAX_ + P_PID_ + DT_DIR_ + M_PI_ + sizeof(DIR_) == 168, \"\");
    static_assert(name[0] == 't' && sizeof text == 4 && text[0] == 0xe4 && stdin_ + index_ == 3, \"\");
    static_assert(e == 2.5 && data == 1 && move == INT32_MIN && value == char(200), \"\");
    static_assert(std::is_same<decltype(count), const uint32_t>::value, \"\");
    static_assert(std::is_same<decltype(wide), const int64_t>::value, \"\");
    uint32_t least(const std::vector<uint32_t> &sizes) { return sizes.size() == high ? 0 : std::min(sizes[0], count); }
";

#[test]
fn idl_constants_do_not_affect_later_c_headers() {
    let folder = ground::Folder::new("idl-constants");
    let place = folder.path().to_str().expect("the path is text");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("the folder can be written to");
        folder.join(name)
    };
    let long = format!("const char *long_text = \"{0}\";\nconst wchar_t *wide_text = L\"{0}\";\n", "a".repeat(70_000));
    let idl = write("constants.idl", &(CONSTANTS.to_owned() + &long));
    let written = obvia_idl::compile_into(&Compiler::new(), obvia_idl::Language::C, &idl, folder.path());
    written.unwrap_or_else(|failure| panic!("{failure}"));
    for (language, text) in [(C, WITH_CONSTANTS_IN_C), (CPP, WITH_CONSTANTS_IN_CPP)] {
        let [first, last] = [POSIX.to_owned() + text, text.to_owned() + POSIX].map(|text| text + "\n");
        compile(language, &["-fsyntax-only", "-D_GNU_SOURCE", "-I", place], &[write("first", &first)]);
        compile(language, &["-fsyntax-only", "-D_GNU_SOURCE", "-I", place], &[write("last", &last)]);
        let stubs = POSIX.to_owned() + "#include \"constants_stubs.c\"\n";
        compile(language, &["-fsyntax-only", "-D_GNU_SOURCE", "-I", place], &[write("stubs", &stubs)]);
    }
}

/// Generates the code of files, each with its text, into a folder.
fn generated(folder: &ground::Folder, files: &[(&str, &str)]) -> Result<(), obvia_idl::Failure> {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder can be written to");
    }
    let place = folder.path();
    let compile = |name: &str| {
        obvia_idl::compile_into(&Compiler::new(), obvia_idl::Language::C, &folder.join(name), place).map(|_| ())
    };
    files.iter().try_for_each(|(name, _)| compile(name))
}

/// Compiles a text with the generated headers of a folder as C and as C++.
fn compiles(folder: &ground::Folder, text: &str) {
    std::fs::write(folder.join("program"), format!("{text}\n")).expect("the folder can be written to");
    for language in [C, CPP] {
        let place = folder.path().to_str().expect("the path is text");
        compile(language, &["-fsyntax-only", "-I", place], &[folder.join("program")]);
    }
}

/// Returns the text of a file with an interface that has these methods, after other declarations.
fn with_methods(declarations: &str, methods: &str) -> String {
    let head = "[object, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3f8)] interface ITest : IUnknown";
    format!("import \"unknwn.idl\";\n{declarations}\n{head} {{\n{methods}\n}}\n")
}

#[test]
fn programs_may_use_every_typedef() {
    let folder = ground::Folder::new("idl-typedefs");
    let types = "struct _Point { long x; };\ntypedef struct _Point Point;\n\
        typedef struct MyItem { hyper Length; } MyItem;\ntypedef MyItem Item, *ItemPointer;\n\
        union _Any switch (long t) u { case 1: long a; };\ntypedef union _Any Any;\n\
        typedef long _Length;\nstruct Length { _Length Item; };\ntypedef struct Length Length;\n";
    let text = with_methods(types, "HRESULT Move([in] const Point *to);") + "typedef ITest Test;\n";
    generated(&folder, &[("types.idl", &text)]).unwrap_or_else(|failure| panic!("{failure}"));
    compiles(
        &folder,
        "#include \"types.h\"\nOBVIA_HAS_SIZE(Point, 4);\nOBVIA_HAS_SIZE(Item, 8);\nOBVIA_HAS_SIZE(Any, 8);\n\
         OBVIA_HAS_SIZE(struct Length, 4);\nTest *test_of(ItemPointer item);",
    );
    let header = std::fs::read_to_string(folder.join("types.h")).expect("it was just written");
    for repeated in ["MyItem MyItem", "Length Length"] {
        assert!(header.matches(repeated).count() == 1, "{repeated}: {header}");
    }
}

#[test]
fn types_may_have_the_names_of_inherited_members() {
    let folder = ground::Folder::new("idl-inherited-names");
    let types = "typedef enum AddRef { One, Two } AddRef;\ntypedef struct no_methods { long a; } no_methods;\n";
    let text = with_methods(types, "HRESULT Move([in] AddRef one, [in] const no_methods *other);");
    generated(&folder, &[("types.idl", &text)]).unwrap_or_else(|failure| panic!("{failure}"));
    let header = std::fs::read_to_string(folder.join("types.h")).expect("it was just written");
    assert!(header.contains("(enum AddRef one, const no_methods_ *other)"), "{header}");
}

/// A count may be in memory that other processes can write, so a proxy does not read the count
/// again for the check of the results. A stub checks the number of used elements, whatever else the
/// method returns.
#[test]
fn numbers_of_used_elements_are_compared_with_the_room_before_the_call() {
    let stubs = |more: &str| {
        let array = "[out, zero_copy, size_is(*n), length_is(*used)] long *values";
        let text = with_methods("", &format!("HRESULT Get([in] const long *n, [out] long *used, {array}{more});"));
        let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).expect("valid");
        obvia_idl::emit::c::emit(&compilation, "a").expect("supported").stubs
    };
    let known =
        with_methods("", "HRESULT Get([in] long n, [in] long m, [out, zero_copy, size_is(n), length_is(m)] long *a);");
    let compilation = Compiler::new().check_text(Path::new("a.idl"), &known).expect("valid");
    let known = obvia_idl::emit::c::emit(&compilation, "a").expect("supported").stubs;
    assert!(known.contains("a_used > a_count"), "{known}");
    for text in [stubs(""), stubs(", [out, string] char **text")] {
        let proxy = &text[text.find("ITest_Get_by_reference_proxy(ITest *self").expect("a proxy")..];
        let of_room = proxy.find("const uint64_t values_count = (uint64_t)*n;").expect("the room");
        let of_call = proxy.find("obvia_exchange").expect("the call");
        let of_check = proxy.find("values_used > values_count").expect("the check");
        assert!(of_room < of_call && of_call < of_check, "{proxy}");
        let stub =
            &text[text.find("ITest_Get_by_reference_stub(void *object, obvia_call *call)\n{").expect("a stub")..];
        let end = stub.find("\n}\n").expect("its end");
        assert!(stub[..end].contains("values_used > values_count"), "{stub}");
    }
}

/// Structures that could exceed a thread's stack are neither parameters by value in C nor results
/// by value in C++, alone or together.
#[test]
fn large_structures_are_passed_by_pointers() {
    let emit = |size: u32, method: &str| {
        let deep = "typedef struct Deep { [string] char *s; byte bytes[65536]; } Deep;";
        let text = with_methods(&format!("typedef struct Big {{ byte bytes[{size}]; }} Big; {deep}"), method);
        let compilation = Compiler::new().check_text(Path::new("a.idl"), &text).expect("valid");
        obvia_idl::emit::c::emit(&compilation, "a")
    };
    let (given, made) = ("HRESULT Put([in] Big big);", "HRESULT Get([out, retval] Big *big);");
    assert!(emit(65536, given).is_ok());
    let refused = emit(65537, given).expect_err("too large");
    let beyond = "a structure beyond the 64 KiB that C passes on the stack";
    assert!(refused[0].message.contains(beyond), "{refused:?}");
    for more in ["[in] Deep deep", "[in] Big one, [in] Big other"] {
        let refused = emit(40000, &format!("HRESULT Put({more});")).expect_err("too large");
        assert!(refused[0].message.contains(beyond), "{more}: {refused:?}");
    }
    assert!(emit(65536, made).expect("small enough").projection.contains("Big Get() const;"));
    let large = emit(65537, made).expect("a pointer is passed").projection;
    assert!(large.contains("is a result beyond the 64 KiB") && !large.contains("Big Get()"), "{large}");
    for more in ["[out] Deep *deep", "[out] Big *one, [out] Big *other"] {
        let large = emit(40000, &format!("HRESULT Get({more});")).expect("pointers are passed").projection;
        assert!(large.contains("is a result beyond the 64 KiB"), "{more}: {large}");
    }
}

#[test]
fn strings_may_consist_of_numbers() {
    let folder = ground::Folder::new("idl-strings-of-numbers");
    let methods = "HRESULT Send([in, string] unsigned short *wide, [in, string, unique] unsigned short *other);\n\
        HRESULT Get([in, string] byte *narrow, [out, string] unsigned short **wide, [out, string] byte **bytes);";
    let idl = folder.join("numbers.idl");
    std::fs::write(&idl, with_methods("", methods)).expect("the folder can be written to");
    let tested = Compiler::new().test(true);
    let written = obvia_idl::compile_into(&tested, obvia_idl::Language::C, &idl, folder.path());
    written.unwrap_or_else(|failure| panic!("{failure}"));
    compiles(&folder, "#include \"numbers_stubs.c\"");
    let place = folder.path().to_str().expect("the path is text");
    for name in ["numbers_values.hpp", "numbers_test.cc"] {
        compile(CPP, &["-fsyntax-only", "-I", place], &[folder.join(name)]);
    }
}

#[test]
fn sizes_may_be_any_expression_over_parameters_of_any_name() {
    let folder = ground::Folder::new("idl-sizes");
    let methods = "HRESULT Mask([in] hyper n, [in, size_is(n & 0x8000000000000000)] const long *a);\n\
        HRESULT Wrong([in] long n, [in, size_is(n + 1)] const long *a, [in] long a_count_wrong);\n\
        HRESULT Count([in] long a_count, [in, size_is(a_count - 1)] const long *a, [in] long a_count__wrong);";
    generated(&folder, &[("sizes.idl", &with_methods("", methods))]).unwrap_or_else(|failure| panic!("{failure}"));
    compiles(&folder, "#include \"sizes_stubs.c\"");
    let place = folder.path().to_str().expect("the path is text");
    compile(CPP, &["-fsyntax-only", "-I", place], &[folder.join("sizes_values.hpp")]);
}

#[test]
fn characters_that_compilers_warn_of_are_escaped() {
    let folder = ground::Folder::new("idl-characters");
    let declarations = "const wchar_t *marks = L\"a\u{202e}\\\"?\u{1f600}\\x85\";\n/* One\u{2066}line */";
    let methods = "/** What??/\n * more??/ or\u{202e} less */\nHRESULT Ask();\n/// a\u{2069}b\rc??/\nHRESULT Tell();";
    generated(&folder, &[("marks.idl", &with_methods(declarations, methods))])
        .unwrap_or_else(|failure| panic!("{failure}"));
    compiles(&folder, "#include \"marks_stubs.c\"\nOBVIA_HAS_SIZE(marks, 16);");
    let text = "#include \"marks_values.hpp\"\n\
        static_assert(marks[1] == 0x202e && marks[2] == '\"' && marks[4] == 0xd83d && marks[6] == 0x85, \"\");\n";
    std::fs::write(folder.join("values"), text).expect("the folder can be written to");
    let place = folder.path().to_str().expect("the path is text");
    compile(CPP, &["-fsyntax-only", "-I", place], &[folder.join("values")]);
}

#[test]
fn headers_of_files_with_similar_names_are_independent() {
    let folder = ground::Folder::new("idl-similar-names");
    let names = ["kinds", "Kinds", "my_kinds", "my-kinds", "myx2d_kinds"];
    let (mut before, mut uses) = (String::new(), String::new());
    for (at, name) in names.into_iter().enumerate() {
        let file = format!("{name}.idl");
        let text = format!("{before}typedef struct S{at} {{ long a; }} S{at};\n");
        generated(&folder, &[(&file, &text)]).unwrap_or_else(|failure| panic!("{failure}"));
        before += &format!("import \"{file}\";\n");
        uses += &format!("OBVIA_HAS_SIZE(S{at}, 4);\n");
    }
    compiles(&folder, &format!("#include \"{}.h\"\n{uses}", names[4]));
}

#[test]
fn headers_of_one_name_are_refused() {
    let folder = ground::Folder::new("idl-same-names");
    for (part, name) in [("a", "A"), ("b", "B")] {
        std::fs::create_dir_all(folder.join(part)).expect("the folder can be written to");
        let text = format!("typedef struct {name} {{ long a; }} {name};\n");
        std::fs::write(folder.join(part).join("types.idl"), text).expect("the folder can be written to");
    }
    for (name, text) in [
        ("both.idl", "import \"a/types.idl\", \"b/types.idl\";\ntypedef struct C { A a; B b; } C;\n"),
        ("types.idl", "import \"b/types.idl\";\ntypedef struct C { B b; } C;\n"),
    ] {
        let failure = generated(&folder, &[(name, text)]).expect_err(name);
        let found: Vec<_> = failure.diagnostics.iter().map(|one| one.code).collect();
        assert_eq!(found, ["taken-name"], "{failure}");
        let shown = failure.to_string();
        assert!(shown.contains("b/types.idl:1:1") && shown.contains("headers of one name in C: `types.h`"), "{shown}");
    }
}

#[test]
fn structures_may_contain_imported_ones_that_end_in_open_arrays() {
    let folder = ground::Folder::new("idl-open");
    let open = "typedef struct W { short n; [size_is(n)] hyper more[]; } W;\n";
    let inner = "import \"open.idl\";\ntypedef struct X { W w; long a; } X;\n";
    let files = [("open.idl", open), ("inner.idl", inner)];
    generated(&folder, &files).unwrap_or_else(|failure| panic!("{failure}"));
    compiles(&folder, "#include \"inner.h\"\n#include <stddef.h>\nOBVIA_HAS_SIZE(X, 24);\nOBVIA_LIES_AT(X, a, 16);");
}

#[test]
fn headers_of_imports_that_c_does_not_support_are_not_needed_for_pointers() {
    let folder = ground::Folder::new("idl-refused-import");
    let scripts = "import \"oaidl.idl\";\ntypedef struct Cents { long n; } Cents;\n\
        [object, dual, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3f1)] interface IScript : IDispatch { [id(1)] HRESULT Run(); }\n";
    std::fs::write(folder.join("scripts.idl"), scripts).expect("the folder can be written to");
    std::fs::write(
        folder.join("between.idl"),
        "import \"scripts.idl\";\ntypedef Cents Money;\ntypedef Cents Wages[2];\n",
    )
    .expect("the folder can be written to");
    std::fs::write(folder.join("including.h"), "#include \"scripts.idl\"\n").expect("the folder can be written to");
    let own = |attribute: &str, import: &str, methods: &str| {
        format!(
            "import \"{import}\";\n[object{attribute}, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3f2)]\n\
             interface IHost : IUnknown {{ HRESULT Add({methods}); }}\n"
        )
    };
    let local = own(", local", "scripts.idl", "[in] IScript *script");
    for text in [&local, &local.replace("scripts.idl", "including.h")] {
        generated(&folder, &[("host.idl", text)]).unwrap_or_else(|failure| panic!("{failure}"));
        compiles(&folder, "#include \"host_stubs.c\"");
    }
    // The file's own remote interface has a description, the imported interface has none.
    generated(&folder, &[("host.idl", &own("", "scripts.idl", "[in] long n"))])
        .unwrap_or_else(|failure| panic!("{failure}"));
    compiles(&folder, "#include \"host_stubs.c\"");
    for (attribute, import, methods) in [
        ("", "scripts.idl", "[in] IScript *script"),
        (", local", "scripts.idl", "[in] const Cents *sum"),
        (", local", "between.idl", "[in] const Cents *sum"),
    ] {
        let failure = generated(&folder, &[("host.idl", &own(attribute, import, methods))]).expect_err(methods);
        let shown = failure.to_string();
        for words in
            ["host.idl:3:", "is declared in `scripts.idl`, for which", "extends IDispatch, which the C back end"]
        {
            assert!(shown.contains(words), "{shown}");
        }
    }
}

#[test]
fn interfaces_that_extend_idispatch_are_refused_in_c_also_if_they_are_local() {
    let folder = ground::Folder::new("idl-dispatch");
    for attributes in ["object, dual", "object, local, dual", "object, local", "object"] {
        let text = format!(
            "import \"oaidl.idl\";\n[{attributes}, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3f4)]\n\
             interface IScript : IDispatch {{ [id(1)] HRESULT Run(); }}\n"
        );
        let failure = generated(&folder, &[("script.idl", &text)]).expect_err(attributes).to_string();
        assert!(failure.contains("script.idl:3:") && failure.contains("which the C back end does not"), "{failure}");
    }
}

#[test]
fn imported_interfaces_may_pass_objects_of_the_built_in_ones_that_they_extend() {
    let folder = ground::Folder::new("idl-imported-bases");
    let uuid = |attribute: &str, digit: u8| {
        format!("[object{attribute}, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c32{digit})]\ninterface")
    };
    let base =
        format!("import \"objidl.idl\";\n{} IFirst : IPersist {{ HRESULT M([in] IPersist *other); }}\n", uuid("", 1));
    let user = format!("import \"base.idl\";\n{} IUser : IUnknown {{ HRESULT Use([in] IFirst *one); }}\n", uuid("", 2));
    let local = format!(
        "import \"base.idl\";\n{} ILocal : IFirst {{ HRESULT Add([in] IPersist *one); }}\n",
        uuid(", local", 3)
    );
    let files = [("base.idl", base.as_str()), ("user.idl", &user), ("local.idl", &local)];
    generated(&folder, &files).unwrap_or_else(|failure| panic!("{failure}"));
    compiles(&folder, "#include \"user_stubs.c\"");
    compiles(&folder, "#include \"local_stubs.c\"");
    let passing = user.replace("IFirst *one", "IPersist *one");
    let failure = generated(&folder, &[("user.idl", &passing)]).expect_err("no proxies for IPersist");
    assert!(failure.to_string().contains("leads to an object of the built-in interface `IPersist`"), "{failure}");
}

#[test]
fn interfaces_may_extend_built_in_ones() {
    let folder = ground::Folder::new("idl-built-in-bases");
    let text = |name: &str, digit: u8| {
        format!(
            "import \"objidl.idl\";\n\
             [object, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3{digit}1)]\n\
             interface I{name} : IPersist {{ HRESULT Add([in] long n, [in] IPersist *other); }}\n\
             [object, local, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3{digit}2)]\n\
             interface I{name}Here : IStream {{ HRESULT Add([in] IMoniker *one); }}\n"
        )
    };
    let (one, two) = (text("One", 1), text("Two", 2));
    generated(&folder, &[("one.idl", &one), ("two.idl", &two)]).unwrap_or_else(|failure| panic!("{failure}"));
    compiles(
        &folder,
        "#include \"one.h\"\n#include \"two.h\"\nextern const IID *both[2];\nconst IID *both[2] = {&IID_IPersist, &IID_IStream};",
    );
    compiles(&folder, "#include \"one_stubs.c\"");
    let place = folder.path().to_str().expect("the path is text");
    let values = "#include \"one_values.hpp\"\n#include \"two_values.hpp\"\n\
        GUID of(const obvia::object<ITwo> &two) { return two.GetClassID(); }\n";
    std::fs::write(folder.join("values"), values).expect("the folder can be written to");
    compile(CPP, &["-fsyntax-only", "-I", place], &[folder.join("values")]);
    let objects: Vec<PathBuf> = ["one", "two"].map(|name| folder.join(format!("{name}.o"))).into();
    for (name, object) in ["one", "two"].into_iter().zip(&objects) {
        let object = object.to_str().expect("the path is text");
        compile(C, &["-c", "-I", place, "-o", object], &[folder.join(format!("{name}_stubs.c"))]);
    }
    // Both object files define the description of IPersist.
    let all = folder.join("all.o");
    compile(Language { standard: &[], ..C }, &["-r", "-nostdlib", "-o", all.to_str().expect("text")], &objects);
}

#[test]
fn interfaces_that_macros_name_belong_to_the_file_that_uses_the_macro() {
    let folder = ground::Folder::new("idl-named-by-macros");
    let pipes = "import \"unknwn.idl\";\n#define PIPE(name) [object, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3f5)] \\\n\
        interface IPipe##name : IUnknown { HRESULT Pull(); }\nPIPE(Byte)\n";
    let bank = |import: &str| {
        format!(
            "import \"{import}\";\n[object, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3f6)]\n\
             interface IBank : IUnknown {{ HRESULT Pay([in] long n); }}\n"
        )
    };
    // A header with the name of a built-in file is not included, because the platform may have a
    // header of this name.
    for (import, is_included) in [("pipes.idl", true), ("objidl.idl", false)] {
        generated(&folder, &[(import, pipes), ("bank.idl", &bank(import))])
            .unwrap_or_else(|failure| panic!("{failure}"));
        let stubs = std::fs::read_to_string(folder.join("bank_stubs.c")).expect("it was just written");
        assert_eq!(stubs.contains("&IPipeByte_INFO,"), is_included, "{import}: {stubs}");
        compiles(&folder, "#include \"bank_stubs.c\"");
    }
}

#[test]
fn a_users_header_takes_precedence_over_a_built_in_name() {
    let folder = ground::Folder::new("idl-own");
    let files = [
        ("wtypes.idl", "import \"unknwn.idl\";\ntypedef struct Money { hyper cents; } Money;\n"),
        (
            "bank.idl",
            "import \"wtypes.idl\";\n[object, uuid(5d1c0a8e-61f2-4f0c-9b56-02d7a1b0c3e4)]\ninterface IBank : IUnknown {\n    HRESULT Pay([in] const Money *sum);\n};\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder can be written to");
    }
    for (name, _) in files {
        let written =
            obvia_idl::compile_into(&Compiler::new(), obvia_idl::Language::C, &folder.join(name), folder.path());
        written.unwrap_or_else(|failure| panic!("{failure}"));
    }
    let header = std::fs::read_to_string(folder.join("bank.h")).expect("it was just written");
    assert!(header.contains("#include \"wtypes.h\""), "{header}");
    for language in [C, CPP] {
        let place = folder.path().to_str().expect("the path is text");
        compile(language, &["-fsyntax-only", "-I", place], &[folder.join("bank_stubs.c")]);
    }
}
