//! Tests of `obvia wizard` as users run it. `cargo xtask test wizard cmake` builds and runs the
//! generated projects.

use crate::running::Directory;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

const SHOP: &str = "import \"unknwn.idl\";
struct Shop { long rooms; };
[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)]
interface IShop : IUnknown {
    /// What a thing costs.
    HRESULT Price([in, range(3, 9)] long thing, [in, string] const wchar_t *whose, [out, retval] hyper *price);
    [oneway] HRESULT Close([in] long type);
}
[object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b02)]
interface ILargeShop : IShop { HRESULT Sort([in] unsigned long count, [in, out, size_is(count)] short *things); }
";

/// Returns the root of the checkout that the tests belong to.
pub(crate) fn checkout() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// Creates a directory with `shop.idl`; returns the IDL file's path, and a path for the output.
fn shop() -> (Directory, String, String) {
    let directory = Directory::new();
    let [source, output] = ["shop.idl", "made"].map(|name| directory.path().join(name).to_str().unwrap().to_owned());
    std::fs::write(&source, SHOP).unwrap();
    (directory, source, output)
}

/// Reads the files below a folder, by their paths.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// Asserts that a file has these consecutive lines.
#[track_caller]
pub(crate) fn has(files: &BTreeMap<String, String>, name: &str, lines: &str) {
    let file = &files[name];
    assert!(file.contains(lines), "{name} does not have\n{lines}\nbut is\n{file}");
}

/// Asserts that no name of a template is left in the files.
#[track_caller]
pub(crate) fn is_filled(files: &BTreeMap<String, String>) {
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|letter| letter.is_lowercase() || letter == '_');
    for (name, text) in files {
        assert!(!text.split('@').any(is_name), "{name}: {text}");
    }
}

#[test]
fn a_project_in_rust_has_the_traits_methods() {
    let (directory, source, output) = shop();
    let checkout = checkout();
    let arguments = ["wizard", &source, "--interface", "ILargeShop", "-l", "rust", "-o", &output, "--transport", "tcp"];
    let said = directory.obvia(&[&arguments[..], &["--obvia", &checkout]].concat()).good();
    let made = files(Path::new(&output));
    assert_eq!(said.lines().filter(|line| line.starts_with("wrote ")).count(), made.len());
    assert!(said.ends_with("made/README.md describes how to build and run the project\n"), "{said}");
    assert_eq!(made["idl/shop.idl"], SHOP);
    has(
        &made,
        "src/component.rs",
        "
#[obvia::object(ILargeShop)]
#[derive(Debug, Default)]
pub struct LargeShop {}

impl IShop_Impl for LargeShop_Impl {
    /// What a thing costs.
    fn Price(&self, thing: i32, whose: &obvia::U16CStr) -> obvia::Result<i64> {
        let _ = (thing, whose);
        Err(obvia::code::E_NOTIMPL.into())
    }

    fn Close(&self, r#type: i32) -> obvia::Result<()> {
        let _ = r#type;
        Err(obvia::code::E_NOTIMPL.into())
    }
}

impl ILargeShop_Impl for LargeShop_Impl {
    fn Sort(&self, things: &mut [i16]) -> obvia::Result<()> {
",
    );
    let calls = "    expect(
        \"Price\",
        code::E_NOTIMPL,
        object.Price(3, obvia::u16cstr!(\"\")),
    );
    expect(\"Close\", code::S_OK, object.Close(0));
    expect(\"Sort\", code::E_NOTIMPL, object.Sort(&mut []));
";
    has(&made, "tests/calls.rs", calls);
    has(&made, "tests/calls.rs", "Running::start(\"tcp\", &[\"ncacn_ip_tcp:127.0.0.1[0]\"])");
    has(&made, "src/bin/shop-client.rs", "    report(\"Sort\", object.Sort(&mut []));\n");
    has(&made, "src/bin/shop-server.rs", "const BINDINGS: &[&str] = &[\"ncacn_ip_tcp:127.0.0.1[5555]\"];");
    let dependency = format!("obvia = {{ path = \"{checkout}/crates/com\" }}\n\n[build-dependencies]");
    has(&made, "Cargo.toml", &dependency);
    is_filled(&made);
}

#[test]
fn a_project_in_cpp_has_methods_with_values() {
    let (directory, source, output) = shop();
    let arguments = ["wizard", &source, "--interface", "IShop", "-l", "cpp", "-o", &output, "--class", "Store"];
    directory.obvia(&arguments).good();
    let made = files(Path::new(&output));
    has(
        &made,
        "src/component.hpp",
        "class Store final : public obvia::implementation<IShop> {
public:
    // What a thing costs.
    int64_t Price(int32_t thing, std::u16string_view whose) override
    {
        not_written(\"IShop::Price\", thing, whose);
    }
",
    );
    has(&made, "tests/calls.cc", "    expect(\"Price\", E_NOTIMPL, [&] { object.Price(3, u\"\"); });\n");
    has(&made, "tests/calls.cc", "    expect(\"Close\", S_OK, [&] { object.Close(0); });\n");
    has(&made, "CMakeLists.txt", "obvia_add_idl(shop-idl idl/shop.idl)\n");
    is_filled(&made);
}

#[test]
fn the_wizard_keeps_existing_files() {
    let (directory, source, output) = shop();
    let arguments = ["wizard", &source, "--interface", "IShop", "-l", "rust", "-o", &output, "--obvia", &checkout()];
    directory.obvia(&arguments).good();
    let component = Path::new(&output).join("src/component.rs");
    std::fs::write(&component, "mine").unwrap();
    std::fs::remove_file(Path::new(&output).join("build.rs")).unwrap();
    let error = directory.obvia(&arguments).bad();
    assert!(error.contains("nothing was written") && error.contains("src/component.rs\n"), "{error}");
    assert!(!error.contains("lib.rs"), "what is the same is no obstacle: {error}");
    assert!(!Path::new(&output).join("build.rs").exists());
    let said = directory.obvia(&[&arguments[..], &["--force"]].concat()).good();
    assert_eq!(said.lines().filter(|line| line.starts_with("wrote ")).count(), 2, "{said}");
    assert!(std::fs::read_to_string(&component).unwrap().contains("IShop_Impl"));
}

#[test]
fn the_wizard_names_missing_options_without_a_terminal() {
    let (directory, source, output) = shop();
    let of = "IShop, ILargeShop";
    for (line, said) in [
        ("", "an IDL file is needed, and there is no terminal to ask the question"),
        ("FILE", "--language is needed"),
        (
            "FILE -l cpp",
            &format!(
                "--interface is needed, and there is no terminal to ask the question: Which interface does the object have, of {of}"
            ),
        ),
        (
            "FILE -l cpp --interface IShip",
            &format!("no interface `IShip` that other processes can call; it declares {of}; did you mean `IShop`?"),
        ),
        ("FILE -l rust --interface IShop --class match", "--class match: `match` is not a valid name of a class"),
        ("FILE -l rust --interface IShop --class Shop", "`Shop` is declared in the IDL"),
        ("FILE -l cpp --interface IShop --class Price", "`Price` is a method of the interface"),
        ("FILE -l rust --interface IShop --name Shop", "--name Shop: `Shop` is not a valid name of a project"),
        ("FILE -l rust --interface IShop --name match", "because the name is reserved"),
        ("FILE -l rust --interface IShop --obvia /", "neither a checkout of obvia"),
        ("nowhere.idl", "nowhere.idl does not compile"),
    ] {
        let words = line.split_whitespace().map(|word| if word == "FILE" { source.as_str() } else { word });
        let error = directory.obvia(&["wizard", "-o", &output].into_iter().chain(words).collect::<Vec<_>>()).bad();
        assert!(error.contains(said), "{line}: {error}");
    }
    assert!(!Path::new(&output).exists());
    let class = ["wizard", &source, "-l", "cpp", "--interface", "IShop", "-o", &output];
    directory.obvia(&class).good();
    has(&files(Path::new(&output)), "src/component.hpp", "class ShopComponent final");
}

#[test]
fn the_wizard_asks_questions_in_a_terminal() {
    let (directory, source, output) = shop();
    // The user's end of the terminal. The command's end is opened from it.
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let terminal = ptsname(&person, Vec::new()).unwrap();
    let terminal = File::open(std::ffi::OsStr::from_bytes(terminal.as_bytes())).unwrap();
    let answers = format!("{source}\n\nIShip\nIShop\nStore\n\n{output}\nudp,tcp\n\u{4}");
    File::from(person.try_clone().unwrap()).write_all(answers.as_bytes()).unwrap();
    let mut wizard = Command::new(env!("CARGO_BIN_EXE_obvia"));
    let ran =
        wizard.args(["wizard", "--obvia", &checkout()]).current_dir(directory.path()).stdin(terminal).output().unwrap();
    let [said, asked] = [ran.stdout, ran.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(ran.status.success(), "{asked}");
    for question in
        ["Which language, rust or cpp [rust]: ", "did you mean `IShop`?\n", "called [ShopComponent]: ", " [shm]: "]
    {
        assert!(asked.contains(question), "{question:?} is not in {asked}");
    }
    let flags = "--language rust --interface IShop --class Store --name shop --output";
    let again =
        format!("to repeat this: obvia wizard {source} {flags} {output} --transport udp,tcp --obvia {}\n", checkout());
    assert!(said.contains(&again), "{said}");
    has(&files(Path::new(&output)), "src/component.rs", "pub struct Store {}\n");
    drop(person);
}

#[test]
fn the_wizard_specialises_existing_components() {
    for (language, component) in [("rust", "src/component.rs"), ("cpp", "src/component.hpp")] {
        let (directory, source, output) = shop();
        let new = format!("{output}-over-vi");
        let make = |output: &str, more: &[&str]| {
            let words = ["wizard", &source, "--interface", "IShop", "--class", "Store", "-l", language, "-o", output];
            directory.obvia(&[&words[..], &["--obvia", &checkout()], more].concat()).good();
            files(Path::new(output))
        };
        let (mut plain, over_vi) = (make(&output, &[]), make(&new, &["--over-vi"]));
        let path = Path::new(&output).join(component);
        let path = path.to_str().unwrap();
        // An existing file is overwritten only with --force.
        let refused = directory.obvia(&["wizard", "--specialise", path]).bad();
        assert!(refused.contains("these files already exist") && refused.contains(component), "{refused}");
        assert_eq!(files(Path::new(&output)), plain);
        let copy = format!("{output}/copy");
        let said = directory.obvia(&["wizard", &source, "--specialise", path, "-o", &copy, "-l", language]).good();
        assert_eq!(
            said,
            format!(
                "wrote {copy}\nobjects of `Store` are called over virtual interfaces, on every transport of their server\n"
            )
        );
        directory.obvia(&["wizard", "--specialise", path, "--class", "Store", "--force"]).good();
        let specialised = files(Path::new(&output));
        assert_eq!(specialised["copy"], over_vi[component]);
        assert_eq!(specialised[component], over_vi[component]);
        assert_ne!(plain.insert(component.to_owned(), over_vi[component].clone()), Some(over_vi[component].clone()));
        plain.insert("copy".to_owned(), over_vi[component].clone());
        assert_eq!(specialised, plain);
        // The generated test checks that calls go over virtual interfaces.
        assert!(over_vi.iter().any(|(name, text)| name.starts_with("tests/") && text.contains("ncacn_vi_")));
        let refused = directory.obvia(&["wizard", "--specialise", path, "--force"]).bad();
        assert!(refused.contains("`Store` already has a marshaler"), "{refused}");
        let refused = directory.obvia(&["wizard", "--specialise", path, "--class", "Other"]).bad();
        assert!(refused.contains("has no class `Other` of objects; it has Store"), "{refused}");
    }
}

#[test]
fn the_wizard_specialises_only_object_classes() {
    let (directory, source, _) = shop();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(&path, text).unwrap();
        path
    };
    let other = file("other.rs", "#[obvia::object(IOther)] struct Other;");
    let two = file("two.rs", "#[obvia::object(IShop)] struct One;\n#[obvia::object(IShop, ILargeShop)] struct Two;");
    let functions = file("functions.idl", "[uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b09)] interface F { void f(); }");
    let broken = file("broken.rs", "fn f() {\n)");
    let nothing = file("nothing.hpp", "class Other {};");
    for (words, why) in [
        (vec![source.as_str(), "--specialise", &other], "has no class that implements an interface of"),
        (
            vec!["--specialise", &two],
            "--class is needed, and there is no terminal to ask the question: Which class, of One, Two",
        ),
        (vec!["--specialise", &nothing], "has no class of objects"),
        (vec!["--specialise", &source], "belongs to no supported language"),
        (vec!["--specialise", "missing.rs"], "missing.rs cannot be read"),
        (vec!["--specialise", &broken], "line 2, column 1: the text is not valid Rust"),
        (vec![functions.as_str(), "-l", "rust", "--over-vi", "--obvia", &checkout()], "--over-vi is for objects"),
    ] {
        let said = directory.obvia(&[&["wizard"], &words[..]].concat()).bad();
        assert!(said.contains(why), "{words:?}: {said}");
    }
}
