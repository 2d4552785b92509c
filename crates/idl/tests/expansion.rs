//! Macros are replaced as a C preprocessor replaces them. The tests compare the replaced text with
//! the output of a C preprocessor.

use obvia_idl::model::Value;
use obvia_idl::{Compilation, Compiler, Failure};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn compile(text: &str) -> Result<Compilation, Failure> {
    Compiler::new().check_text(Path::new("a.idl"), text)
}

/// Returns the value of the only constant.
#[track_caller]
fn constant(text: &str) -> Value {
    let found = compile(text).unwrap_or_else(|failure| panic!("{failure}{text}")).model;
    let [found] = found.consts.as_slice() else { panic!("{text}") };
    found.value.clone()
}

/// Returns the codes of the errors, and their text.
fn wrong(text: &str) -> (Vec<&'static str>, String) {
    let failure = compile(text).expect_err("something is wrong");
    (failure.diagnostics.iter().map(|found| found.code).collect(), failure.to_string())
}

/// Returns a text in which the C preprocessor has replaced the macros.
fn replaced_by_c(text: &str) -> String {
    let compiler = std::env::var_os("CC").unwrap_or_else(|| OsString::from("cc"));
    let mut child = Command::new(&compiler)
        .args(["-E", "-P", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("the compiler `{}` cannot be run: {error}", compiler.display()));
    child.stdin.take().expect("it is a pipe").write_all(text.as_bytes()).expect("the compiler reads");
    let output = child.wait_with_output().expect("the compiler ends");
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).expect("it is text")
}

/// The macros of example 3 in 6.10.3.5 of C11.
const EXAMPLE: &str = "\
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define FIRST (f(y+1) + f(f(z)) % t(t(g)(0) + t)(1))
#define SECOND (g(x+(3,4)-w) | h 5) & m (f)^m(m))
#define THIRD (p() i[q()] = q(1), r(2,3), r(4,), r(,5), r(,))
";

#[test]
fn macros_are_replaced_as_in_c() {
    let join = "#define J(a, b) a##b\n#define JJ(a, b) J(a, b)\n#define ONE 1\n#define TWO() 2\n";
    for (definitions, use_) in [
        (EXAMPLE, "FIRST"),
        (EXAMPLE, "SECOND"),
        (EXAMPLE, "THIRD"),
        (join, "J(ONE, 2) JJ(ONE, 2) JJ(J(O, NE), TWO()) JJ(,) J(ONE ONE, ONE ONE)"),
        ("#define T(x, y, z) x##y##z\n", "T(1,2,3) T(,4,5) T(6,,7) T(8,9,) T(10,,) T(,11,) T(,,12) T(,,)"),
        ("#define HASHES # ## #\n#define MADE A##B\n#define AB 7\n", "HASHES MADE A AB"),
        ("#define NAME(n) n FOO_##n X; NAME##n\n#define X 5\n", "NAME(a)"),
        ("#define A B\n#define B A\n#define C(x) D(x)\n#define D(x) C(x)\n", "A B C(1) D(C(2))"),
        ("#define OBJECT FUNCTION\n#define FUNCTION(a) [a]\n", "OBJECT (1) OBJECT FUNCTION FUNCTION(OBJECT)(2)"),
        ("#define E\n#define P(x) <x>\n", "P() P(E) P( a+b ) P(a  +  b) E P E(1) P(P)(2) P(P(P(3)))"),
        ("#define NUMBER 1.5\n#define MINUS -NUMBER\n", "MINUS -MINUS"),
        (
            "#define V(...) [__VA_ARGS__] #__VA_ARGS__\n#define ONE 1\n",
            "(V() V(ONE) V(ONE , (2,3),V(4)) V(,) V(\"a\", ')'))",
        ),
        (
            "#define W(a, ...) a:__VA_ARGS__;\n#define P(x, y, ...) y-x W(__VA_ARGS__)\n",
            "(W(1) W(1,) W(1,2,3) P(1,2,3,4,5))",
        ),
        (
            "#define C(a, ...) f(a, ##__VA_ARGS__)\n#define S(...) #__VA_ARGS__ x ## __VA_ARGS__\n",
            "(C(1) C(1,) C(1,2) C(,3,4) S(1, 2) S())",
        ),
        (
            "#define showlist(...) puts(#__VA_ARGS__)\n#define report(t, ...) ((t)?puts(#t): printf(__VA_ARGS__))\n",
            "(showlist(The first, second, and third items.); report(x>y, \"x is %d but y is %d\", x, y);)",
        ),
        ("#define D(...) f(a, ##__VA_ARGS__)\n", "(D() D(1) D(,) D( ))"),
        ("#define LIST(x) x, x\n#define PAIR(a, b) b a\n#define BOTH(x) PAIR(x)\n", "(LIST(1)) BOTH(LIST(2))"),
    ] {
        let head = format!("{definitions}#define STR(x) #x\n#define XSTR(x) STR(x)\n");
        let by_c = replaced_by_c(&format!("{head}XSTR({use_})\n"));
        let Value::Text(ours) = constant(&format!("{head}const char *A = XSTR({use_});\n")) else { panic!("{use_}") };
        assert_eq!(format!("{ours:?}"), by_c.trim(), "{use_}");
    }
}

#[test]
fn conditions_have_the_values_of_c() {
    for condition in [
        "'A' == 65 && 'a' > 'Z'",
        "'\\n' == 10 && '\\0' == 0 && '\\x41' == 'A' && '\\101' == 'A' && '\\'' == 39",
        "'\\xff' < 0",
        "'A' == 66",
    ] {
        let text = format!("#if {condition}\nconst long A = 1;\n#else\nconst long A = 2;\n#endif\n");
        let by_c = replaced_by_c(&text);
        let Value::Int(ours) = constant(&text) else { panic!("{condition}") };
        assert_eq!(format!("const long A = {ours};"), by_c.trim(), "{condition}");
    }
}

#[test]
fn error_directives_count_where_they_are_reached() {
    let (codes, said) = wrong("#ifndef LEVEL\n#  error don't compile \"this\" alone\n#endif\n");
    assert!(
        codes == ["said-by-file"] && said.contains("a.idl:2:") && said.contains("don't compile \"this\" alone"),
        "{said}"
    );
    let found = compile("#if 0\n#error never\n#endif\n#warning old\nconst long A = 1;").expect("a warning");
    let [warning] = found.warnings.as_slice() else { panic!("{:?}", found.warnings) };
    assert!(warning.message.ends_with("says: old"), "{warning:?}");
}

#[test]
fn faulty_definitions_are_refused_with_the_reason() {
    for (text, reason) in [
        ("#define F(a, a b) a", "are names, separated by commas"),
        ("#define F(a, b", "do not end"),
        ("#define F(..., a) 1", "`...` may be the last one"),
        ("#define F(a ...) 1", "`...` may be the last one"),
        ("#define F(a, a) a", "one name"),
        ("#define F ## a", "stands between two words"),
        ("#define F(a) a ##", "stands between two words"),
    ] {
        let (codes, said) = wrong(&format!("{text}\n"));
        assert!(codes == ["bad-define"] && said.contains(reason), "{said}");
    }
    let failure = Compiler::new().define("1=2").check_text(Path::new("a.idl"), "").expect_err("no name");
    assert!(failure.to_string().contains("-D 1=2"), "{failure}");
}

#[test]
fn errors_in_joined_words_name_the_place_of_the_use() {
    let (_, said) = wrong("#define T(a) lo##a\n\nstruct S { T(ngg) a; };\n");
    assert!(said.contains("a.idl:3:12"), "{said}");
}

#[test]
fn the_work_of_macros_is_limited() {
    let nested = |depth: usize| format!("{}1{}", "ID(".repeat(depth), ")".repeat(depth));
    let identity = |depth| format!("#define ID(x) (x)\nconst long A = {};\n", nested(depth));
    assert_eq!(constant(&identity(50)), Value::Int(1));
    let chain = |length: usize| {
        let steps = (1..length).map(|at| format!("#define A{at} A{}\n", at - 1));
        format!("#define A0 3\n{}const long A = A{};\n", steps.collect::<String>(), length - 1)
    };
    assert_eq!(constant(&chain(50)), Value::Int(3));
    let quoting = format!("#define S(x) {}\nS({})\n", "#x ".repeat(30_000), "a ".repeat(30_000));
    let names: Vec<String> = (0..3000).map(|at| format!("p{at}")).collect();
    let many = format!("#define M({}) {}\n", names.join(","), names.join(" "));
    let empty = format!("{many}{}", format!("M({})\n", ",".repeat(2999)).repeat(40));
    assert!(compile(&empty).is_ok(), "uses that leave no words");
    for (text, code) in [
        (identity(100), "too-deep"),
        (chain(100), "too-deep"),
        (quoting, "too-long"),
        (format!("#define D(x) x x\n{}a{}\n", "D(".repeat(60), ")".repeat(60)), "too-long"),
    ] {
        let (codes, said) = wrong(&text);
        // No error follows from the missing words.
        assert_eq!(codes, [code], "{}", said.get(..1000).unwrap_or(&said));
    }
}
