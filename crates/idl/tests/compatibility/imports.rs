//! Changes of imported files.

use obvia_idl::tools::compatibility::breaking_changes;
use obvia_idl::{Compilation, Compiler};
use std::path::Path;

/// A file, and the text of the file `part.idl` that it imports.
type Files<'a> = (&'a str, &'a str);

fn codes(name: &str, old: Files<'_>, new: Files<'_>) -> Vec<&'static str> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let compiled = |side: &str, (text, part): Files<'_>| -> Compilation {
        let folder = folder.join(side);
        std::fs::create_dir_all(&folder).expect("the folder for tests can be written to");
        let uuids = |text: &str| text.replace('@', "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a0").replace('#', ")");
        std::fs::write(folder.join("part.idl"), uuids(part)).expect("written");
        let checked = Compiler::new().check_text(&folder.join("x.idl"), &uuids(text));
        checked.unwrap_or_else(|failure| panic!("{failure}"))
    };
    let found = breaking_changes(&compiled("old", old), &compiled("new", new));
    found.iter().map(|found| found.kind.code()).collect()
}

const MAIN: &str = "import \"part.idl\"; [object, @1#] interface I : IUnknown { HRESULT A([in] IB *b); }";

#[test]
fn changes_of_imported_declarations_are_found() {
    let part = |uuid: u32, value: u32, ty: &str, values: &str| {
        format!(
            "import \"unknwn.idl\"; const long K = {value}; typedef {ty} T; enum E {{ {values} }};\n\
             [object, @{uuid}#] interface IB : IUnknown {{ HRESULT B([in] enum E e); }}"
        )
    };
    let old = part(2, 1, "long", "A, B");
    let found = |new: &str| codes("imported_changes", (MAIN, &old), (MAIN, new));
    assert_eq!(found(&old), [""; 0]);
    assert_eq!(found(&part(3, 1, "long", "A, B")), ["interface-uuid"]);
    assert_eq!(found(&part(2, 2, "long", "A, B")), ["const-value"]);
    assert_eq!(found(&part(2, 1, "short", "A, B")), ["typedef-target"]);
    assert_eq!(found(&part(2, 1, "long", "A, B, C")), ["enum-value-added"]);
}

#[test]
fn imported_declarations_that_are_gone_matter_where_the_file_uses_them() {
    let part = "import \"oaidl.idl\"; const long K = 1; struct S { long a; };\n\
        [@8#] library L { [@2#] coclass C { interface IUnknown; };\n\
        [@3#] dispinterface D { properties: methods: [id(1)] void A(); }; };";
    let main = "import \"part.idl\"; [object, @1#] interface I : IUnknown { HRESULT A(); }";
    let alone = main.replace("part.idl", "oaidl.idl");
    assert_eq!(codes("import_dropped", (main, part), (&alone, part)), [""; 0]);
    let user = |member: &str| main.replace("A()", &format!("A([in] const {member} *s)"));
    let found =
        codes("import_dropped", (&user("struct S"), part), (&user("long").replace("part.idl", "oaidl.idl"), part));
    assert_eq!(found, ["value-type"]);
}
