//! Tests of `obvia idl doc` as users run it.

use crate::running::Directory;
use serde_json::Value;
use std::path::Path;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../idl/tests/golden/doc/reference.idl");

/// Returns the rows of a page's layout, with the cells of each. The cells of padding are left out.
fn layout(page: &str) -> Vec<Vec<String>> {
    let (_, behind) = page.split_once("<h2>Layout</h2>").expect("there is a layout");
    let (table, _) = behind.split_once("</table>").expect("the table ends");
    let cell = |cell: &str| cell.split('>').skip(1).map(|part| part.split('<').next().unwrap_or_default()).collect();
    let rows = table.lines().filter(|line| line.starts_with("<tr id"));
    rows.map(|line| line.split("<td").skip(1).map(cell).collect()).collect()
}

/// Returns the value of a property in the table at the head of a page.
fn property<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, behind) = page.split_once(&format!("<th scope=\"row\">{name}</th><td>")).expect("it has the property");
    let (value, _) = behind.split_once("</td>").expect("the cell ends");
    value.trim_start_matches("<code>").trim_end_matches("</code>")
}

#[test]
fn the_pages_of_a_reference_say_what_the_dump_says() {
    let directory = Directory::new();
    let folder = directory.path().join("reference");
    let output = folder.to_str().unwrap();
    let said = directory.obvia(&["idl", "doc", GOLDEN, "--output", output]).good();
    assert!(said.starts_with("wrote ") && said.trim_end().ends_with("reference/index.html"), "{said}");
    let read =
        |name: String| std::fs::read_to_string(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let dump = directory.obvia(&["idl", "dump", "--json", GOLDEN]).json();
    // The declarations of built-in files have no pages.
    let own = |kind: &str| -> Vec<Value> {
        let all = dump[kind].as_array().unwrap().iter().filter(|one| one["imported"] == false);
        all.cloned().collect()
    };
    let name = |one: &Value| one["name"].as_str().unwrap().to_owned();
    let (structs, interfaces) = (own("structs"), own("interfaces"));
    assert_eq!((structs.len(), interfaces.len()), (2, 5));
    for found in structs {
        let page = read(format!("struct.{}.html", name(&found)));
        let rows = layout(&page);
        let fields = found["fields"].as_array().unwrap();
        assert_eq!(rows.len(), fields.len(), "{found}");
        for (row, field) in rows.iter().zip(fields) {
            assert_eq!([&row[0], &row[1]], [&field["offset"].to_string(), &name(field)], "{found}");
        }
        assert_eq!(property(&page, "Size"), format!("{} bytes", found["size"]));
        assert_eq!(property(&page, "Alignment"), format!("{} bytes", found["align"]));
    }
    for found in own("unions") {
        let page = read(format!("union.{}.html", name(&found)));
        assert_eq!(property(&page, "Size"), format!("{} bytes", found["size"]));
    }
    for found in interfaces {
        let page = read(format!("interface.{}.html", name(&found)));
        assert_eq!(property(&page, "Fingerprint"), found["fingerprint"].as_str().unwrap());
        let uuid = property(&page, if found["is_object"] == true { "IID" } else { "UUID" });
        assert_eq!(uuid, found["uuid"].as_str().unwrap());
        for method in found["methods"].as_array().unwrap() {
            let row = format!("<td class=\"number\">{}</td><td><a href=\"#method.{}\">", method["opnum"], name(method));
            assert!(page.contains(&row), "{row}");
        }
    }
}

#[test]
fn a_reference_replaces_only_its_own_files() {
    let directory = Directory::new();
    let folder = directory.path().join("reference");
    let arguments = ["idl", "doc", GOLDEN, "-o", folder.to_str().unwrap()];
    directory.obvia(&arguments).good();
    directory.obvia(&arguments).good();
    std::fs::write(folder.join("mine.txt"), "").unwrap();
    let error = directory.obvia(&arguments).bad_with(2);
    assert!(error.contains("mine.txt") && error.contains("name a new or empty folder"), "{error}");
}

#[test]
fn a_reference_of_a_faulty_file_is_not_begun() {
    let directory = Directory::new();
    let bad = directory.path().join("bad.idl");
    std::fs::write(&bad, "struct S { lnog a; };").unwrap();
    let folder = directory.path().join("reference");
    let error =
        directory.obvia(&["idl", "doc", GOLDEN, bad.to_str().unwrap(), "-o", folder.to_str().unwrap()]).bad_with(2);
    assert!(error.contains("unknown-type") && !Path::new(&folder).exists(), "{error}");
    let error = directory.obvia(&["idl", "doc", GOLDEN]).bad_with(2);
    assert!(error.contains("--output"), "{error}");
}
