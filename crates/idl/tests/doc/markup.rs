//! Checks the markup of generated pages as a strict HTML parser would.

use obvia_idl::tools::doc::Page;
use std::collections::{HashMap, HashSet};

/// The elements without an end.
const VOID: [&str; 3] = ["meta", "link", "input"];

/// A tag: its name, its attributes, and whether it ends an element.
struct Tag<'p> {
    name: &'p str,
    attributes: Vec<(&'p str, &'p str)>,
    is_end: bool,
}

/// Returns the tags of a page. Panics at markup that a strict reader refuses.
fn tags(page: &Page) -> Vec<Tag<'_>> {
    let mut tags = Vec::new();
    let mut rest = page.text.strip_prefix("<!DOCTYPE html>\n").unwrap_or_else(|| panic!("{}", page.name));
    while let Some((text, behind)) = rest.split_once('<') {
        assert!(!text.contains('>'), "{}: {text}", page.name);
        let (inner, next) = behind.split_once('>').unwrap_or_else(|| panic!("{}: an open tag", page.name));
        rest = next;
        let (inner, is_end) = inner.strip_prefix('/').map_or((inner, false), |inner| (inner, true));
        let (name, mut given) = inner.split_once(' ').unwrap_or((inner, ""));
        assert!(!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{}: <{inner}>", page.name);
        let mut attributes = Vec::new();
        while !given.is_empty() {
            let end = given.find([' ', '=']).unwrap_or(given.len());
            let (name, behind) = given.split_at(end);
            let (value, behind) = match behind.strip_prefix("=\"") {
                Some(behind) => behind.split_once('"').unwrap_or_else(|| panic!("{}: <{inner}>", page.name)),
                None => ("", behind),
            };
            let known = ["charset", "class", "colspan", "content", "defer", "hidden", "href", "id", "lang", "name"];
            let others = ["rel", "scope", "src", "type", "aria-label", "placeholder", "autocomplete"];
            assert!(known.contains(&name) || others.contains(&name), "{}: {name} in <{inner}>", page.name);
            attributes.push((name, value));
            given = behind.trim_start_matches(' ');
        }
        tags.push(Tag { name, attributes, is_end });
    }
    tags
}

/// Checks that a page is well-formed, and that it has only the two scripts that every page has.
pub(crate) fn check_page(page: &Page) {
    if !page.name.ends_with(".html") {
        return;
    }
    let (mut open, mut scripts) = (Vec::new(), Vec::new());
    for tag in tags(page) {
        if tag.is_end {
            assert_eq!(open.pop(), Some(tag.name), "{}", page.name);
            continue;
        }
        if tag.name == "script" {
            scripts.extend(tag.attributes.iter().filter(|(name, _)| *name == "src").map(|(_, value)| *value));
        }
        if !VOID.contains(&tag.name) {
            open.push(tag.name);
        }
    }
    assert!(open.is_empty(), "{}: {open:?} do not end", page.name);
    assert_eq!(scripts, ["search-index.js", "search.js"], "{}", page.name);
}

/// Checks that each link and each row of the search index leads to a page of the reference, and to
/// an element of it.
pub(crate) fn check_links(pages: &[Page]) {
    let mut places: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut links: Vec<(&str, &str)> = Vec::new();
    for page in pages {
        let of_page = places.entry(&page.name).or_default();
        if page.name == "search-index.js" {
            let rows = page.text.lines().filter_map(|line| line.strip_prefix("[\""));
            links.extend(rows.filter_map(|row| Some((page.name.as_str(), row.split("\",\"").nth(2)?))));
        }
        if !page.name.ends_with(".html") {
            continue;
        }
        for (name, value) in tags(page).iter().flat_map(|tag| &tag.attributes) {
            match *name {
                "id" => assert!(of_page.insert(value), "{}: {value} is there twice", page.name),
                "href" | "src" => links.push((&page.name, value)),
                _ => {}
            }
        }
    }
    assert!(!links.is_empty());
    for (from, link) in links {
        let (page, place) = link.split_once('#').unwrap_or((link, ""));
        let page = if page.is_empty() { from } else { page };
        let found = places.get(page).unwrap_or_else(|| panic!("{from}: {link} leads nowhere"));
        assert!(place.is_empty() || found.contains(place), "{from}: {link} leads to no place");
    }
}

/// Returns the rows of a page's layout: offset, member, size and alignment.
pub(crate) fn layout(page: &str) -> Vec<String> {
    let (_, behind) = page.split_once("<h2>Layout</h2>").expect("there is a layout");
    let (table, _) = behind.split_once("</table>").expect("the table ends");
    let rows = table.lines().filter(|line| line.starts_with("<tr id") || line.starts_with("<tr class=\"padding\""));
    let row = |line: &str| {
        let cells: Vec<String> = line.split("<td").skip(1).map(text).collect();
        let wanted: &[usize] = if line.contains("padding") { &[0, 1, 2] } else { &[0, 1, 3, 4] };
        wanted.iter().map(|at| cells[*at].as_str()).collect::<Vec<_>>().join(" ")
    };
    rows.map(row).collect()
}

/// Returns the text of a table's cell. `cell` begins within the cell's start tag.
fn text(cell: &str) -> String {
    cell.split('>').skip(1).map(|part| part.split('<').next().unwrap_or_default()).collect()
}
