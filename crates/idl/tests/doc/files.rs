//! References of several files.

use super::markup::check_links;
use super::{check, text};
use obvia_idl::tools::doc::{Page, pages};
use obvia_idl::{Compilation, Compiler};

/// Returns the reference of files. The reference is asked for the files that end in `.idl`.
fn reference(folder: &ground::Folder, files: &[(&str, &str)]) -> Vec<Page> {
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("the folder can be written to");
    }
    let named = files.iter().filter(|(name, _)| name.ends_with(".idl"));
    let compile = |name: &str| Compiler::new().check(&folder.join(name)).unwrap_or_else(|failure| panic!("{failure}"));
    let made = pages(&named.map(|(name, _)| compile(name)).collect::<Vec<Compilation>>());
    check_links(&made);
    made
}

/// Returns the names of the pages that begin with a text.
fn named<'p>(made: &'p [Page], prefix: &str) -> Vec<&'p str> {
    let mut names: Vec<&str> = made.iter().map(|page| page.name.as_str()).collect();
    names.retain(|name| name.starts_with(prefix));
    names.sort_unstable();
    names
}

const HEAD: &str = "import \"unknwn.idl\";\n";

#[test]
fn forward_declarations_lead_to_the_definition_in_another_file() {
    let ground = ground::Folder::new("idl-doc-forward");
    let a = format!(
        "{HEAD}interface IFoo;\nstruct S;\ninterface INone;\n[object, local, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d01)]\n\
         interface IA : IUnknown {{ HRESULT M([in] IFoo *foo, [in] struct S *s, [in] INone *none); }}\n"
    );
    let b = format!(
        "{HEAD}struct S {{ long a; }};\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d02)]\n\
         interface IFoo : IUnknown {{ HRESULT N(); }}\n"
    );
    let made = reference(&ground, &[("a.idl", &a), ("b.idl", &b)]);
    assert_eq!(named(&made, "interface."), ["interface.IA.html", "interface.IFoo.html", "interface.INone.html"]);
    assert_eq!(named(&made, "struct."), ["struct.S.html"]);
    assert!(text(&made, "interface.IA.html").contains("<a href=\"interface.IFoo.html\">IFoo</a>"));
    for page in ["interface.IFoo.html", "struct.S.html"] {
        let page = text(&made, page);
        assert!(page.contains("b.idl</a>, line") && page.contains("interface.IA.html#method.M"), "{page}");
    }
    // A declaration without a definition has a page that says so.
    let none = text(&made, "interface.INone.html");
    assert!(none.contains("interface <b>INone</b>;</pre>") && none.contains("forward declaration"), "{none}");
    // With two definitions, the forward declaration leads to neither of them.
    let made = reference(&ground, &[("a.idl", &a), ("b.idl", &b), ("c.idl", &b.replace("7d02", "7d03"))]);
    let expected = ["interface.IFoo.html", "interface.IFoo~2.html", "interface.IFoo~3.html"];
    assert_eq!(named(&made, "interface.IFoo"), expected);
}

#[test]
fn declarations_that_macros_change_have_pages_of_their_own() {
    let ground = ground::Folder::new("idl-doc-variants");
    let header = "struct S { FIELD a; };\nstruct Same { long a; };\nconst FIELD N = 1;\ntypedef FIELD T[2];\nconst long ONE = 1;\n";
    let user = |field: &str, digit: u32| {
        format!(
            "{HEAD}#define FIELD {field}\n#include \"part.h\"\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d0{digit})]\n\
             interface I{digit} : IUnknown {{ HRESULT M([in] struct S *s, [in] struct Same *t); }}\n"
        )
    };
    let files = [("a.idl", user("long", 1)), ("b.idl", user("hyper", 2)), ("c.idl", user("long", 3))];
    let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    files.insert(0, ("part.h", header));
    let made = reference(&ground, &files);
    assert_eq!(named(&made, "struct."), ["struct.S.html", "struct.Same.html", "struct.S~2.html"]);
    let users = |page: &str| [1, 2, 3].map(|digit| text(&made, page).contains(&format!("interface.I{digit}.html")));
    assert_eq!(users("struct.S.html"), [true, false, true]);
    assert_eq!(users("struct.S~2.html"), [false, true, false]);
    assert_eq!(users("struct.Same.html"), [true, true, true]);
    let part = text(&made, "file.part.h.html");
    let count = |anchor: &str| part.matches(&format!("id=\"{anchor}")).count();
    assert_eq!(["const.N", "typedef.T", "const.ONE"].map(count), [2, 2, 1], "{part}");
}

#[test]
fn named_files_without_declarations_are_listed() {
    let ground = ground::Folder::new("idl-doc-empty");
    let made = reference(&ground, &[("empty.idl", "import \"part.h\";\n"), ("part.h", "#define A 1\n")]);
    assert!(text(&made, "index.html").contains("<a href=\"file.empty.idl.html\">"));
    assert_eq!(named(&made, "file."), ["file.empty.idl.html"]);
}

#[test]
fn comments_of_dispinterfaces_members_are_shown() {
    let source = "import \"oaidl.idl\";\n[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d05)] library L {\n\
        [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d06)] dispinterface D { properties:\n/// The width.\n[id(1)] long Width;\n\
        methods:\n/// Moves it.\n/// @param by the distance\n/// @param nosuch another\n[id(2)] void Move([in] long by);\n};\n};";
    let made = pages(&[check("x.idl", source)]);
    let page = text(&made, "dispinterface.D.html");
    assert!(page.contains("<p>The width.</p>") && page.contains("<p>Moves it.</p>"), "{page}");
    assert_eq!(page.matches("the distance").count(), 1, "{page}");
    assert!(page.contains("<p><code>nosuch</code>: another</p>"), "{page}");
}

#[test]
fn an_empty_line_separates_a_comment_from_interfaces_and_methods() {
    let source = format!(
        "{HEAD}/// Apart.\n\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d05)]\ninterface IX : IUnknown {{\n\
         HRESULT A();\n/** Of none. */\n\nHRESULT B();\n/** Of C. */ HRESULT C();\n}}\n"
    );
    let made = pages(&[check("x.idl", &source)]);
    let page = text(&made, "interface.IX.html");
    assert!(!page.contains("Apart.") && !page.contains("Of none."), "{page}");
    assert!(!text(&made, "file.x.idl.html").contains("Apart."));
    // The comment stands in the summary and in the text.
    assert_eq!(page.matches("Of C.").count(), 2, "{page}");
}

#[test]
fn structures_that_are_only_declared_have_no_layout() {
    let source = format!(
        "{HEAD}struct S;\n[object, local, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d05)]\n\
         interface IX : IUnknown {{ HRESULT A([in] struct S *s); }}\n"
    );
    let made = pages(&[check("x.idl", &source)]);
    let page = text(&made, "struct.S.html");
    assert!(page.contains("struct <b>S</b>;</pre>") && page.contains("whose members are not declared"), "{page}");
    assert!(!page.contains("Layout") && !page.contains("Size") && !page.contains("FLAT"), "{page}");
}

#[test]
fn interfaces_show_their_kind_and_the_names_of_their_source() {
    let source = "import \"oaidl.idl\";\n[local] interface Functions { long F(); }\ninterface IEmpty { }\n\
        [object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d05)] interface IX : IDispatch {\n\
        [id(1), propget] HRESULT Size([out, retval] long *value);\n\
        [id(2)] HRESULT M([in, optional, defaultvalue(\"a`b`c\")] BSTR text);\n}\n";
    let made = pages(&[check("x.idl", source)]);
    let page = text(&made, "interface.IX.html");
    assert!(page.contains("HRESULT <b>Size</b>(") && page.contains("<a href=\"#method.get_Size\">"), "{page}");
    assert!(page.contains("<code>&quot;a\\x60b\\x60c&quot;</code> if omitted"), "{page}");
    let functions = text(&made, "interface.Functions.html");
    assert!(
        functions.contains("[local]\ninterface <b>Functions") && functions.contains("within one process"),
        "{functions}"
    );
    let empty = text(&made, "interface.IEmpty.html");
    assert!(empty.contains("no methods and no UUID") && !empty.contains("[object"), "{empty}");
}
