//! References of IDL files in HTML: the pages equal the golden files in `golden/doc`, each link
//! leads to an existing page and place, and texts of IDL files do not become markup.
//!
//! After an intended change of the pages, run the test with `OBVIA_BLESS=1` to write the golden
//! files anew, and review the differences.

mod files;
mod folders;
mod markup;

use markup::{check_links, check_page};
use obvia_idl::tools::doc::{Page, pages};
use obvia_idl::{Compilation, Compiler, canonical};
use rustix::time::{ClockId, clock_gettime};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Checks a text as if it were a file.
fn check(name: &str, text: &str) -> Compilation {
    Compiler::new().check_text(Path::new(name), text).unwrap_or_else(|failure| panic!("{failure}"))
}

fn reference() -> Compilation {
    check("reference.idl", include_str!("golden/doc/reference.idl"))
}

/// Returns the text of a page.
fn text<'p>(pages: &'p [Page], name: &str) -> &'p str {
    let names = || pages.iter().map(|page| page.name.as_str()).collect::<Vec<_>>();
    &pages.iter().find(|page| page.name == name).unwrap_or_else(|| panic!("no {name} among {:?}", names())).text
}

#[test]
fn pages_equal_the_golden_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/doc/reference");
    let made = pages(&[reference()]);
    // The style sheet and the script are copies of files in the source.
    let made: Vec<Page> =
        made.into_iter().filter(|page| !["style.css", "search.js"].contains(&page.name.as_str())).collect();
    if std::env::var_os("OBVIA_BLESS").is_some() {
        std::fs::remove_dir_all(&folder).expect("the repository can be written to");
        std::fs::create_dir_all(&folder).expect("the repository can be written to");
        made.iter().for_each(|page| {
            std::fs::write(folder.join(&page.name), &page.text).expect("the folder can be written to")
        });
    }
    for page in &made {
        let golden = std::fs::read_to_string(folder.join(&page.name)).unwrap_or_default();
        let line = page.text.lines().zip(golden.lines()).find(|(new, old)| new != old);
        assert!(page.text == golden, "{} differs, first in {line:?}: see the head of tests/doc.rs", page.name);
    }
    let entries = std::fs::read_dir(&folder).expect("the folder is there").count();
    assert_eq!(entries, made.len(), "a golden file is not made any more");
}

/// Returns the IDL files of the repository that are complete by themselves.
fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = [
        "bench",
        "crates/idl/tests/golden",
        "crates/idl/tests/golden/java",
        "testing/matrix/idl",
        "testing/vectors/typelib",
    ];
    let examples = std::fs::read_dir(root.join("examples")).expect("there are examples");
    let examples = examples.map(|entry| entry.expect("readable").path());
    let mut files = Vec::new();
    for folder in folders.iter().map(|folder| root.join(folder)).chain(examples) {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        files.extend(entries.map(|entry| entry.expect("readable").path()));
    }
    files.retain(|path| path.extension().is_some_and(|found| found == "idl"));
    files.sort();
    files
}

#[test]
fn links_lead_to_a_page_and_a_place() {
    let compilations: Vec<Compilation> =
        files().iter().filter_map(|path| Compiler::new().permissive(true).check(path).ok()).collect();
    assert!(compilations.len() > 20, "{}", compilations.len());
    let made = pages(&compilations);
    assert!(made.len() > 100, "{}", made.len());
    made.iter().for_each(check_page);
    check_links(&made);
    let one = pages(&[reference()]);
    check_links(&one);
    assert!(
        text(&one, "struct.Track.html").contains("<a href=\"interface.IArchive.html#method.Find\">IArchive::Find</a>")
    );
    assert!(text(&one, "struct.Track.html").contains("<a href=\"enum.FORMAT.html\">FORMAT</a>"));
    assert!(
        text(&one, "struct.Track.html").contains("<a href=\"file.reference.idl.html#typedef.SECONDS\">SECONDS</a>")
    );
}

#[test]
fn texts_of_idl_files_stay_texts() {
    let attack = "</p></pre></td><script>alert(1)</script>'\\\"&lt; ]]> <!-- \u{1}\u{1b}\u{85}\u{202e}\u{2028}";
    let plain = attack.replace("\\\"", "\"");
    let source = format!(
        "import \"oaidl.idl\";\n/** {plain} `{plain}`\n- {plain}\n@param a {plain}\n@return {plain} */\n\
         [object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d02), helpstring(\"{attack}\")]\n\
         interface IX : IDispatch {{\n/// {plain}\n[id(1), helpstring(\"{attack}\")] \
         HRESULT M([in, optional, defaultvalue(\"{attack}\")] BSTR a);\n}}\n\
         /// {plain}\nconst wchar_t *T = L\"{attack}\";\n/// {plain}\ntypedef long L;\n\
         /** {plain} */ struct S {{ /// {plain}\n long a; /* {plain} */ }};\n\
         enum E {{ /** {plain} */ A }};\n\
         [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d05), helpstring(\"{attack}\"), helpfile(\"{attack}\")]\n\
         library L1 {{ importlib(\"stdole2.tlb\"); interface IX; /// {plain}\n\
         [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d07), helpstring(\"{attack}\")] coclass C {{ interface IX; }}; }};"
    );
    let made = pages(&[check("../\"><script>'&.idl", &source)]);
    for page in &made {
        check_page(page);
        assert!(page.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-~".contains(&byte)), "{}", page.name);
        assert!(!page.text.contains("alert(1)</script>"), "{}", page.name);
        let hidden = |one: char| one.is_control() && one != '\n' || one == '\u{202e}';
        assert!(!page.text.contains(hidden), "{}", page.name);
    }
    check_links(&made);
    let index = text(&made, "search-index.js");
    assert!(!index.contains(['<', '&', '\'', '\u{2028}']), "{index}");
    let (mut shown, escaped) = (0, "&lt;script&gt;alert(1)&lt;/script&gt;&#39;");
    made.iter().for_each(|page| shown += page.text.matches(escaped).count());
    assert!(shown >= 20, "only {shown} of the texts are there");
}

#[test]
fn structures_and_unions_have_their_offsets_and_padding() {
    let made = pages(&[reference()]);
    // C's rules on 64-bit machines, applied by hand.
    let track = "0 number 1 1|1 padding 7|8 title 8 8|16 length 4 4|20 hidden 1 1|21 padding 3|24 bits 4 4\
        |28 padding 4|32 others 8 8|40 count 2 2|42 padding 6";
    let expected = [
        ("struct.Track.html", track),
        ("struct.Album.html", "0 price 8 8|8 count 2 2|10 cover 0 1|10 padding 6"),
        ("union.Key.html", "0 kind 2 2|2 padding 6|8 number 4 4|8 text 8 8|8 other 8 8"),
        ("union.Content.html", "0 track 48 8|0 ratio 4 4"),
    ];
    for (name, rows) in expected {
        assert_eq!(markup::layout(text(&made, name)).join("|"), rows, "{name}");
    }
    assert!(text(&made, "struct.Track.html").contains("bits 4–7: <code>FORMAT preferred : 4</code>"));
}

#[test]
fn interfaces_show_their_identity_and_their_places() {
    let made = reference();
    let model = &made.model;
    let at = model.interfaces.iter().position(|found| found.name == "IPlayer").expect("it is declared");
    let fingerprint = canonical::fingerprint(model, obvia_idl::model::InterfaceId(at));
    let made = pages(&[reference()]);
    let page = text(&made, "interface.IPlayer.html");
    for part in [
        format!("<code>{fingerprint:032x}</code>"),
        "<code>0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d02</code>".to_owned(),
        "<td class=\"number\">7</td><td><a href=\"#method.Play\">Play</a></td>".to_owned(),
        "IUnknown ← IDispatch".to_owned(),
    ] {
        assert!(page.contains(&part), "{part} is missing in {page}");
    }
    // Functions without an object are counted from 0.
    let host = text(&made, "interface.Host.html");
    assert!(host.contains("<td class=\"number\">0</td><td><a href=\"#method.Uptime\">Uptime</a></td>"), "{host}");
}

#[test]
fn declarations_of_several_files_have_one_page_each() {
    let folder = ground::Folder::new("idl-doc-files");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("the folder can be written to");
        folder.join(name)
    };
    let part = write("part.idl", "/// Shared.\nstruct Shared { long a; };\nstruct SHARED { long b; };\n");
    let interface = |name: &str, digit: u32| {
        format!(
            "import \"part.idl\";\n[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7d0{digit})]\n\
             interface {name} : IUnknown {{ HRESULT M([in] struct Shared *s); }}\n"
        )
    };
    let (a, b) = (write("a.idl", &interface("IA", 1)), write("b.idl", &interface("IB", 2)));
    let compile = |path: &PathBuf| Compiler::new().check(path).unwrap_or_else(|failure| panic!("{failure}"));
    let of = |paths: &[&PathBuf]| pages(&paths.iter().map(|path| compile(path)).collect::<Vec<_>>());
    let made = of(&[&a, &b, &part]);
    check_links(&made);
    let mut names: Vec<&str> = made.iter().map(|page| page.name.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "file.a.idl.html",
        "file.b.idl.html",
        "file.part.idl.html",
        "index.html",
        "interface.IA.html",
        "interface.IB.html",
        "search-index.js",
        "search.js",
        "struct.SHARED~2.html",
        "struct.Shared.html",
        "style.css",
    ];
    assert_eq!(names, expected);
    let shared = text(&made, "struct.Shared.html");
    assert!(shared.contains("<p>Shared.</p>"), "{shared}");
    for user in ["interface.IA.html#method.M", "interface.IB.html#method.M"] {
        assert!(shared.contains(user), "{user} is missing in {shared}");
    }
    assert!(!text(&made, "index.html").contains("Imported"));
    assert!(text(&of(&[&a]), "index.html").contains("<h3>Imported</h3>"));
    let again = of(&[&a, &b, &part]);
    assert!(made.iter().zip(&again).all(|(one, other)| one.name == other.name && one.text == other.text));
}

/// Returns the processor time that this thread has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[test]
fn the_time_for_many_interfaces_grows_linearly() {
    let took = |count: usize| {
        let mut text = "import \"unknwn.idl\";\nstruct Shared { long a; };\n".to_owned();
        for at in 0..count {
            let _ = writeln!(
                text,
                "/// An interface.\nstruct S{at} {{ struct Shared *a; }};\n\
                 [object, uuid(5d1c0a8e-61f2-4f0c-9b56-{at:012x})] interface I{at} : IUnknown {{\n\
                 HRESULT M([in] struct S{at} *a, [in] struct Shared *b);\n}}"
            );
        }
        let names: Vec<String> = (0..count * 4).map(|at| format!("T{at}")).collect();
        let _ = writeln!(text, "typedef long {};", names.join(", "));
        let _ = writeln!(text, "const long A = 1;{}\nconst long B = 2;", " /* a */".repeat(count * 10));
        let made = check("x.idl", &text);
        let begin = processor_time();
        let made = pages(&[made]);
        let bytes: usize = made.iter().map(|page| page.text.len()).sum();
        (processor_time() - begin, bytes)
    };
    let ((few, few_bytes), (many, many_bytes)) = (took(300), took(3000));
    assert!(many <= few * 25 + Duration::from_secs(1), "{many:?} for 3,000, and {few:?} for 300");
    assert!(many_bytes <= few_bytes * 12, "{many_bytes} bytes for 3,000, and {few_bytes} for 300");
}
