//! The modules of a crate, and the dependencies between its files.
//!
//! A path is followed through re-exports to the file that defines its item. Bodies of
//! `macro_rules!` are read like other code, and expansions are not read. Tests are ignored, and so
//! are methods, because methods have no path. Instead, each `impl` that is not in the file of its
//! type is listed.

use super::{Kind, Token, is_in, tokens};
use crate::repo::File;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum length of a chain of re-exports.
const HOPS_MAX: usize = 16;

/// A dependency: the file `from` names an item of the file `to` in the line `line`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) line: usize,
}

/// A name that a `use` brings into a module.
struct Import {
    path: Vec<String>,
    /// The name in the module; `None` for a glob.
    name: Option<String>,
    line: usize,
}

/// A path in code that is not part of a `use`.
struct Mention {
    path: Vec<String>,
    line: usize,
}

/// The path of the type of an `impl` without a trait.
struct Inherent {
    path: Vec<String>,
    line: usize,
}

#[derive(Default)]
struct Module {
    file: usize,
    imports: Vec<Import>,
    mentions: Vec<Mention>,
    inherent: Vec<Inherent>,
    /// The names of the functions outside of `impl`s. A module may have the same name.
    functions: BTreeSet<String>,
}

/// The modules of one crate.
#[derive(Default)]
pub(crate) struct Modules {
    /// The modules by their paths from the root.
    all: BTreeMap<Vec<String>, Module>,
    /// The crate's name in its own code, from `extern crate self as NAME`; `None` without such an
    /// item.
    own_name: Option<String>,
    /// The exported macros. They belong to the root module, even if other files define them.
    macros: BTreeSet<String>,
}

impl Modules {
    /// Reads the files of a crate whose root, `lib.rs` or else `main.rs`, is in `folder`.
    pub(crate) fn read(files: &[&File], folder: &str) -> Self {
        let mut modules = Self::default();
        for (number, file) in files.iter().enumerate() {
            let inside = file.path.strip_prefix(folder).and_then(|path| path.strip_suffix(".rs"));
            let Some(inside) = inside.filter(|path| !path.starts_with("bin/") && !file.is_test()) else { continue };
            let path: Vec<String> = match inside {
                "lib" | "main" => Vec::new(),
                inside => inside.trim_end_matches("/mod").split('/').map(ToOwned::to_owned).collect(),
            };
            let tokens = tokens(&file.text);
            let test_lines = super::tests(&tokens);
            let code: Vec<_> =
                tokens.into_iter().filter(|token| !token.is_comment() && !is_in(&test_lines, token.line)).collect();
            Reader { modules: &mut modules, file: number, path }.read(&code);
        }
        modules
    }

    /// Returns the dependencies between different files, one for each pair of files.
    pub(crate) fn arrows(&self) -> Vec<Arrow> {
        let mut arrows: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (path, module) in &self.all {
            let imports = module.imports.iter().map(|import| (&import.path, import.line, import.name.is_none()));
            let mentions = module.mentions.iter().map(|mention| (&mention.path, mention.line, false));
            for (named, line, is_glob) in imports.chain(mentions) {
                let all = || is_glob.then(|| self.file_of_all(path, named)).flatten();
                let Some(file) = self.file_of(path, named, HOPS_MAX).or_else(all) else { continue };
                if file != module.file {
                    arrows.entry((module.file, file)).or_insert(line);
                }
            }
        }
        arrows.into_iter().map(|((from, to), line)| Arrow { from, to, line }).collect()
    }

    /// Returns the `impl`s that have no trait and are not in the file of their type, as
    /// dependencies of their own file on the type's file.
    pub(crate) fn impls(&self) -> Vec<Arrow> {
        let all = self.all.iter().flat_map(|(path, module)| module.inherent.iter().map(move |one| (path, module, one)));
        let arrow = |(path, module, one): (&Vec<String>, &Module, &Inherent)| {
            let to = self.file_of_type(path, &one.path).filter(|of| *of != module.file)?;
            Some(Arrow { from: module.file, to, line: one.line })
        };
        all.filter_map(arrow).collect()
    }

    /// Returns the file of a type, if the type is in this crate. `named` is the type's path as the
    /// module names it.
    fn file_of_type(&self, module: &[String], named: &[String]) -> Option<usize> {
        match named {
            [name] => self.imported(module, name, &[], HOPS_MAX),
            named => self.file_of(module, named, HOPS_MAX),
        }
    }

    /// Returns the file that defines the item that a module names by a path. `None` for other
    /// crates' items, for whole modules and for exported macros.
    fn file_of(&self, module: &[String], named: &[String], hops: usize) -> Option<usize> {
        let (mut at, rest) = self.beginning(module, named, hops)?;
        if at.is_empty() && matches!(rest, [name] if self.macros.contains(name)) {
            return None;
        }
        for (index, segment) in rest.iter().enumerate() {
            let child = [&at[..], std::slice::from_ref(segment)].concat();
            if self.all.contains_key(&child) {
                at = child;
                continue;
            }
            let here = self.all.get(&at)?;
            let behind = &rest[index + 1..];
            let is_reexported = at.is_empty() && here.imports.iter().any(|one| one.name.as_ref() == Some(segment));
            if is_reexported {
                // The root may re-export the item from another crate, so the root's file must not
                // be returned instead.
                return self.imported(&at, segment, behind, hops);
            }
            return self.imported(&at, segment, behind, hops).or(Some(here.file));
        }
        self.file_of_function(&at, hops)
    }

    /// Returns the file of the function that has the name of the module `module` and is in the same
    /// parent module.
    fn file_of_function(&self, module: &[String], hops: usize) -> Option<usize> {
        let (name, parent) = module.split_last()?;
        let here = self.all.get(parent)?;
        if here.functions.contains(name) {
            return Some(here.file);
        }
        // A `use` whose path is a single name denotes the module itself, and imports no function.
        let is_other = |import: &&Import| import.name.as_deref() == Some(name) && import.path.len() > 1;
        let import = here.imports.iter().find(is_other)?;
        self.file_of(parent, &import.path, hops.checked_sub(1)?)
    }

    /// Returns the file of a module whose items a glob imports.
    fn file_of_all(&self, module: &[String], named: &[String]) -> Option<usize> {
        let (at, rest) = self.beginning(module, named, HOPS_MAX)?;
        Some(self.all.get(&[&at[..], rest].concat())?.file)
    }

    /// Returns the file of the item to which a `use` in a module gives a name.
    fn imported(&self, module: &[String], name: &str, behind: &[String], hops: usize) -> Option<usize> {
        let hops = hops.checked_sub(1)?;
        let imports = || self.all.get(module).into_iter().flat_map(|module| &module.imports);
        if let Some(import) = imports().find(|import| import.name.as_deref() == Some(name)) {
            return self.file_of(module, &[&import.path[..], behind].concat(), hops);
        }
        // A glob of another module is followed only for names that the other module itself imports
        // by a `use`.
        imports().filter(|import| import.name.is_none()).find_map(|import| {
            let (at, rest) = self.beginning(module, &import.path, hops)?;
            let at = [&at[..], rest].concat();
            self.imported(&at, name, behind, hops)
        })
    }

    /// Returns the module in which a path begins, and the rest of the path; `None` if that is no
    /// module of this crate.
    fn beginning<'p>(&self, module: &[String], path: &'p [String], hops: usize) -> Option<(Vec<String>, &'p [String])> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            name if self.own_name.as_deref() == Some(name) => Some((Vec::new(), rest)),
            "self" => Some((module.to_vec(), rest)),
            "super" => {
                let (mut at, mut rest) = (module.split_last()?.1.to_vec(), rest);
                while let Some((_, behind)) = rest.split_first().filter(|(first, _)| *first == "super") {
                    at.pop()?;
                    rest = behind;
                }
                Some((at, rest))
            }
            name => {
                let child = [module, std::slice::from_ref(first)].concat();
                if self.all.contains_key(&child) {
                    return Some((child, rest));
                }
                // The first name of the path may be a name that a `use` in this module gives to
                // another module.
                let hops = hops.checked_sub(1)?;
                let import =
                    self.all.get(module)?.imports.iter().find(|import| import.name.as_deref() == Some(name))?;
                let (at, inner) = self.beginning(module, &import.path, hops)?;
                let target = [&at[..], inner].concat();
                self.all.contains_key(&target).then_some((target, rest))
            }
        }
    }
}

/// A reader that adds the code of one file to the modules.
struct Reader<'m> {
    modules: &'m mut Modules,
    file: usize,
    path: Vec<String>,
}

impl Reader<'_> {
    fn read(mut self, code: &[Token<'_>]) {
        let outside = self.path.len();
        // The depths of braces at the starts of the inner modules.
        let mut inner: Vec<usize> = Vec::new();
        let mut depth = 0_usize;
        let mut at = 0;
        self.here();
        while let Some(token) = code.get(at) {
            let begins_module = token.is("mod") && code.get(at + 2).is_some_and(|next| next.is("{"));
            if begins_module {
                self.path.push(code[at + 1].text.to_owned());
                self.here();
                inner.push(depth);
                depth += 1;
                at += 3;
                continue;
            }
            let is_outside = depth == inner.len();
            // An `impl` in the type of an argument begins no item.
            let is_first =
                at.checked_sub(1).is_none_or(|at| ["{", "}", ";", "]", "unsafe"].iter().any(|end| code[at].is(end)));
            if token.is("impl") && is_outside && is_first {
                self.here().inherent.extend(inherent(code, at));
            }
            if token.is("fn") && is_outside {
                self.here().functions.extend(code.get(at + 1).map(|name| name.text.to_owned()));
            }
            if token.is("{") {
                depth += 1;
            } else if token.is("}") {
                depth = depth.saturating_sub(1);
                if inner.last() == Some(&depth) && self.path.len() > outside {
                    inner.pop();
                    self.path.pop();
                }
            }
            if let Some(name) = own_name(code, at) {
                self.modules.own_name = Some(name);
            }
            self.modules.macros.extend(exported_macro(code, at));
            if token.is("use") && is_item(code, at) {
                let mut imports = Vec::new();
                at = tree(code, at + 1, &[], &mut imports);
                self.here().imports.extend(imports);
                continue;
            }
            let (path, behind) = mention(code, at);
            let is_inner = at > 1 && is_path_mark(code, at - 2);
            if path.len() > 1 && !is_inner {
                self.here().mentions.push(Mention { path, line: token.line });
                at = behind;
                continue;
            }
            at += 1;
        }
    }

    /// Returns the current module.
    fn here(&mut self) -> &mut Module {
        let file = self.file;
        self.modules.all.entry(self.path.clone()).or_insert_with(|| Module { file, ..Module::default() })
    }
}

/// Returns the NAME of an `extern crate self as NAME`, if there is one at an index.
fn own_name(code: &[Token<'_>], at: usize) -> Option<String> {
    let (words, name) = code[at..].split_at_checked(4)?;
    let is_own = words.iter().map(|word| word.text).eq(["extern", "crate", "self", "as"]);
    name.first().filter(|_| is_own).map(|name| name.text.to_owned())
}

/// Returns the name of the macro to which the attribute `#[macro_export]` at an index belongs. Only
/// other attributes may stand between this attribute and the macro.
fn exported_macro(code: &[Token<'_>], at: usize) -> Option<String> {
    let (attribute, behind) = code.get(at..)?.split_at_checked(3)?;
    if !attribute.iter().map(|token| token.text).eq(["#", "[", "macro_export"]) {
        return None;
    }
    let ends = |token: &Token<'_>| ["macro_rules", "{", "}", ";"].iter().any(|end| token.is(end));
    let at = behind.iter().position(ends).filter(|at| behind[*at].is("macro_rules"))?;
    behind.get(at + 2).map(|name| name.text.to_owned())
}

/// Whether the word `use` at an index begins an item. The word also occurs in bounds of captured
/// lifetimes: `use<'a>`.
fn is_item(code: &[Token<'_>], at: usize) -> bool {
    !code.get(at + 1).is_some_and(|next| next.is("<"))
}

/// Reads the `impl` at an index; `None` if it has a trait.
fn inherent(code: &[Token<'_>], at: usize) -> Option<Inherent> {
    let open = (at..code.len()).find(|index| code[*index].is("{"))?;
    let mut start = at + 1;
    if code.get(start)?.is("<") {
        let mut depth = 0_usize;
        start = (start..open).find(|&at| {
            // The second character of `->` closes nothing.
            let closes = code[at].is(">") && !code[at - 1].is("-");
            depth = depth + usize::from(code[at].is("<")) - usize::from(closes);
            depth == 0
        })? + 1;
    }
    if (start..open).any(|at| code[at].is("for") && !begins_lifetimes(code, at + 1)) {
        return None;
    }
    let (path, _) = mention(code, start);
    (!path.is_empty()).then(|| Inherent { path, line: code[at].line })
}

/// Whether the lifetimes of a bound begin at an index: `<'a>` in `for<'a>`. The type of an `impl A
/// for <B as C>::D` also begins with `<`, but no lifetime follows.
fn begins_lifetimes(code: &[Token<'_>], at: usize) -> bool {
    let is_inside = |next: &Token<'_>| next.kind == Kind::Lifetime || next.is(">");
    code[at].is("<") && code.get(at + 1).is_some_and(is_inside)
}

fn is_path_mark(code: &[Token<'_>], at: usize) -> bool {
    code.get(at).is_some_and(|token| token.is(":")) && code.get(at + 1).is_some_and(|token| token.is(":"))
}

/// Returns the path that begins at an index, and the index after the path.
fn mention(code: &[Token<'_>], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(token) = code.get(at).filter(|token| token.kind == Kind::Ident) {
        path.push(token.text.to_owned());
        if !is_path_mark(code, at + 1) {
            return (path, at + 1);
        }
        at += 3;
    }
    (path, at)
}

/// Reads a tree of imports below the path `above`. Returns the index after the tree.
fn tree(code: &[Token<'_>], mut at: usize, above: &[String], imports: &mut Vec<Import>) -> usize {
    let mut path = above.to_vec();
    while let Some(token) = code.get(at) {
        if token.is("{") {
            at += 1;
            while code.get(at).is_some_and(|token| !token.is("}")) {
                let before = at;
                at = tree(code, at, &path, imports);
                at += usize::from(code.get(at).is_some_and(|token| token.is(",")) || at == before);
            }
            return at + 1;
        }
        if token.is("*") {
            imports.push(Import { path, name: None, line: token.line });
            return at + 1;
        }
        if token.kind != Kind::Ident {
            // A leading `::` as in `::windows_core` denotes another crate.
            at += 1;
            continue;
        }
        if token.text != "self" || path.is_empty() {
            path.push(token.text.to_owned());
        }
        if is_path_mark(code, at + 1) {
            at += 3;
            continue;
        }
        let alias = code.get(at + 1).filter(|next| next.is("as")).and_then(|_| code.get(at + 2));
        let name = alias.map_or_else(|| path.last().cloned(), |alias| Some(alias.text.to_owned()));
        imports.push(Import { path, name, line: token.line });
        return at + if alias.is_some() { 3 } else { 1 };
    }
    at
}

/// Returns the cycles: the sets of two or more files that all depend on each other. The files of a
/// set are sorted. The largest set comes first.
pub(crate) fn circles(count: usize, arrows: &[Arrow]) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); count];
    let mut back = vec![Vec::new(); count];
    for arrow in arrows {
        next[arrow.from].push(arrow.to);
        back[arrow.to].push(arrow.from);
    }
    // Kosaraju's algorithm: the second pass visits the files in reverse order of completion.
    let mut finished = Vec::new();
    let mut seen = BTreeSet::new();
    for start in 0..count {
        finish(start, &next, &mut seen, &mut finished);
    }
    seen.clear();
    let mut found = Vec::new();
    for start in finished.into_iter().rev() {
        let mut circle = Vec::new();
        finish(start, &back, &mut seen, &mut circle);
        circle.sort_unstable();
        if circle.len() > 1 {
            found.push(circle);
        }
    }
    found.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
    found
}

/// Visits the files that are reachable from `start` and not yet seen. Records each file once all
/// files that are reachable from it have been visited.
fn finish(start: usize, next: &[Vec<usize>], seen: &mut BTreeSet<usize>, finished: &mut Vec<usize>) {
    if !seen.insert(start) {
        return;
    }
    let mut way = vec![(start, 0)];
    while let Some((file, index)) = way.last_mut() {
        match next[*file].get(*index) {
            Some(&to) => {
                *index += 1;
                if seen.insert(to) {
                    way.push((to, 0));
                }
            }
            None => {
                finished.push(*file);
                way.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Modules, circles};
    use crate::repo::Repo;

    /// Returns the dependencies as `a -> b`, sorted.
    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let repo = Repo::of(files);
        let files: Vec<_> = repo.files.iter().collect();
        let arrows = Modules::read(&files, "src/").arrows();
        let name = |number: usize| files[number].path.trim_start_matches("src/").trim_end_matches(".rs").to_owned();
        let mut described: Vec<_> =
            arrows.iter().map(|arrow| format!("{} -> {}", name(arrow.from), name(arrow.to))).collect();
        described.sort();
        described
    }

    #[test]
    fn imports_are_resolved_to_the_defining_file() {
        let files = [
            ("src/lib.rs", "mod a; mod b; pub use b::inner::{self, Item};"),
            ("src/a.rs", "use crate::Item; use std::fmt;"),
            ("src/b.rs", "pub(crate) mod inner; fn f() {}"),
            ("src/b/inner.rs", "use super::f; pub struct Item;"),
        ];
        assert_eq!(arrows(&files), ["a -> b/inner", "b/inner -> b", "lib -> b/inner"]);
    }

    #[test]
    fn paths_in_code_are_resolved_to_the_defining_file() {
        let files = [
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "use crate::b as other; fn f() { other::go(); crate::c::Kind::One; Vec::new(); }"),
            ("src/b.rs", "pub use crate::c::go;"),
            ("src/c.rs", "pub enum Kind { One } pub fn go() {}"),
        ];
        assert_eq!(arrows(&files), ["a -> c", "b -> c"]);
    }

    #[test]
    fn imports_through_inner_modules_and_globs_are_resolved() {
        let files = [
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "mod inside { use super::super::c::X; }\n#[cfg(test)] mod tests { use crate::b::Y; }"),
            ("src/b.rs", "pub use crate::c::X;"),
            ("src/c.rs", "use crate::b::*; fn f() -> impl Sized + use<> { X }"),
        ];
        assert_eq!(arrows(&files), ["a -> c", "b -> c", "c -> b"]);
    }

    #[test]
    fn a_function_may_have_the_name_of_a_module() {
        let files = [
            ("src/lib.rs", "mod a; mod b; mod c;"),
            ("src/a.rs", "fn f() { crate::b::inner(); crate::c::own(); }"),
            ("src/b.rs", "mod inner; pub(crate) use inner::inner;"),
            ("src/b/inner.rs", "pub(crate) fn inner() {}"),
            ("src/c.rs", "mod own; struct C; impl C { fn d() {} } fn own() {}"),
            ("src/c/own.rs", ""),
            ("src/c/d.rs", "use crate::c::d; use crate::c::own as other;"),
        ];
        assert_eq!(arrows(&files), ["a -> b/inner", "a -> c", "b -> b/inner", "c/d -> c"]);
    }

    #[test]
    fn only_the_attribute_exports_a_macro() {
        let names = |text| {
            let repo = Repo::of(&[("src/lib.rs", text)]);
            let files: Vec<_> = repo.files.iter().collect();
            Modules::read(&files, "src/").macros.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(
            names("#[macro_export]\n#[doc(hidden)]\nmacro_rules! a { () => {} } macro_rules! b { () => {} }"),
            ["a"]
        );
        assert_eq!(names("#[macro_export(local_inner_macros)] macro_rules! a { () => {} }"), ["a"]);
        assert!(names("fn f(macro_export: u8) {} macro_rules! a { () => {} }").is_empty());
    }

    #[test]
    fn impls_in_other_files_than_their_types_are_listed() {
        let files = [
            ("src/lib.rs", "mod a; mod b; pub use a::A;"),
            ("src/a.rs", "pub struct A; impl A {} impl Clone for A {}"),
            (
                "src/b.rs",
                "use crate::A;\nimpl Drop for A {}\nimpl<'a, T: Into<u8>> crate::a::A {}\nimpl A {}\nimpl Vec<A> {}\nfn f(a: &impl Clone) {}\nimpl A for <B as C>::D {}\nimpl A where for<'a> &'a A: Clone {}",
            ),
        ];
        let repo = Repo::of(&files);
        let files: Vec<_> = repo.files.iter().collect();
        let impls = Modules::read(&files, "src/").impls();
        assert_eq!(
            impls.iter().map(|one| (one.from, one.to, one.line)).collect::<Vec<_>>(),
            [(2, 1, 3), (2, 1, 4), (2, 1, 8)]
        );
    }

    #[test]
    fn import_cycles_are_found() {
        let arrow = |(from, to)| super::Arrow { from, to, line: 1 };
        let arrows: Vec<_> = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (5, 0)].map(arrow).to_vec();
        assert_eq!(circles(6, &arrows), [vec![0, 1, 2], vec![3, 4]]);
        assert!(circles(6, &arrows[3..4]).is_empty());
    }
}
