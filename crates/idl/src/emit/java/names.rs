//! The names of IDL in Java.

use crate::model::{InterfaceId, Method, Model, Type, UnionId};
use crate::text::source::{FileId, Sources, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Java's keywords, literals and reserved names.
const KEYWORDS: [&str; 55] = [
    "_",
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "record",
    "return",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "void",
    "volatile",
    "while",
];

/// Methods of every object and of proxies, which a method of the same name would override or
/// overload.
const METHODS: [&str; 13] = [
    "begin",
    "clone",
    "equals",
    "finalize",
    "getClass",
    "hashCode",
    "notify",
    "notifyAll",
    "perform",
    "toString",
    "wait",
    "yield",
    "var",
];

/// Methods of proxies that a method of an interface would override, if it had the same parameters.
const OF_PROXIES: [&str; 2] = ["checkCopied", "isShared"];

/// The local variables of generated methods.
const LOCALS: [&str; 10] = ["arguments", "call", "e", "frame", "i", "length", "memory", "object", "outcome", "results"];

/// Words beyond [`KEYWORDS`] that cannot be the name of a type.
const NO_TYPES: [&str; 5] = ["permits", "record", "sealed", "var", "yield"];

/// Types that generated code uses without their package.
const TYPES: [&str; 54] = [
    "ArithmeticException",
    "Boolean",
    "Byte",
    "Bytes",
    "Channel",
    "Character",
    "Chars",
    "Class",
    "Double",
    "Doubles",
    "Enum",
    "Flat",
    "Float",
    "Floats",
    "Frame",
    "FrameReader",
    "FrameWriter",
    "Frames",
    "GraphKinds",
    "GraphReader",
    "GraphType",
    "GraphView",
    "GraphWriter",
    "Graphs",
    "Guid",
    "Hresult",
    "IllegalArgumentException",
    "IllegalStateException",
    "InCall",
    "Integer",
    "InterfaceInfo",
    "InternalError",
    "Ints",
    "List",
    "Long",
    "Longs",
    "Marshal",
    "Math",
    "MemorySegment",
    "Object",
    "Objects",
    "Override",
    "Proxy",
    "Rec",
    "Record",
    "Reference",
    "Remote",
    "Retained",
    "RpcException",
    "Short",
    "Shorts",
    "String",
    "Throwable",
    "View",
];

/// Whether a dotted name is a valid name of a package.
pub fn is_package(text: &str) -> bool {
    // The virtual machine reserves the package `java` and its subpackages.
    text.split('.').next() != Some("java")
        && text.split('.').all(|part| crate::text::lexer::is_name(part) && !KEYWORDS.contains(&part))
}

/// Returns the name of a package for a file's name.
pub(super) fn package(stem: &str) -> String {
    let text: String = stem.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    if is_package(&text) { text } else { format!("idl{text}") }
}

/// Returns the words of a name, which underscores separate.
fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split('_').filter(|word| !word.is_empty())
}

fn is_shouted(word: &str) -> bool {
    word.len() > 1 && !word.chars().any(|letter| letter.is_ascii_lowercase())
}

fn capitalised(word: &str) -> String {
    let rest = if is_shouted(word) { word[1..].to_ascii_lowercase() } else { word[1..].to_owned() };
    format!("{}{rest}", word[..1].to_ascii_uppercase())
}

/// Returns a word as the beginning of a name: `Add` becomes `add`, `URLOf` becomes `urlOf`.
fn uncapitalised(word: &str) -> String {
    let upper = word.chars().take_while(char::is_ascii_uppercase).count();
    let lowered = if is_shouted(word) { word.len() } else { upper.saturating_sub(1).max(upper.min(1)) };
    format!("{}{}", word[..lowered].to_ascii_lowercase(), &word[lowered..])
}

/// Returns the name of a class: `PFS_STAT` becomes `PfsStat`.
pub(super) fn pascal(name: &str) -> String {
    let text: String =
        if name.contains('_') || is_shouted(name) { words(name).map(capitalised).collect() } else { capitalised(name) };
    if text.starts_with(|first: char| first.is_ascii_alphabetic()) { text } else { format!("T{text}") }
}

/// Returns the name of a method, a parameter or a member: `data_size` becomes `dataSize`.
pub(super) fn camel(name: &str) -> String {
    let mut parts = words(name);
    let first = parts.next().map(uncapitalised).unwrap_or_default();
    let text: String = std::iter::once(first).chain(parts.map(capitalised)).collect();
    let text = if text.starts_with(|first: char| first.is_ascii_alphabetic()) { text } else { format!("v{text}") };
    if KEYWORDS.contains(&text.as_str()) { format!("{text}_") } else { text }
}

/// Returns the name of a constant, which stays unchanged unless it is a keyword.
pub(super) fn constant(name: &str) -> String {
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// Returns a name that is not taken, and marks it as taken.
pub(super) fn unique(taken: &mut BTreeSet<String>, mut name: String) -> String {
    while taken.contains(&name) {
        name.push('_');
    }
    taken.insert(name.clone());
    name
}

/// Returns distinct names for members.
pub(super) fn members<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: BTreeSet<String> = METHODS.map(str::to_owned).into();
    // The parameters of the methods that read and write members.
    taken.extend(["at", "memory"].map(str::to_owned));
    names.map(|name| unique(&mut taken, camel(name))).collect()
}

/// Returns distinct names for members of structures with pointers, whose classes have methods of
/// their own.
pub(super) fn members_of<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: BTreeSet<String> = METHODS.map(str::to_owned).into();
    taken.extend(["copy", "graphType", "of", "retain"].map(str::to_owned));
    names.map(|name| unique(&mut taken, camel(name))).collect()
}

/// Returns the names of parameters, and second names for the results of [in, out] parameters.
pub(super) fn parameters<'a>(names: impl Iterator<Item = &'a str>) -> (Vec<String>, Vec<String>) {
    let mut taken = LOCALS.map(str::to_owned).into();
    let given: Vec<String> = names.map(|name| unique(&mut taken, camel(name))).collect();
    let came = given.iter().map(|name| unique(&mut taken, format!("{name}Result"))).collect();
    (given, came)
}

/// The names of the classes for a file's types.
#[derive(Debug)]
pub(super) struct Types {
    enums: Vec<String>,
    structs: Vec<String>,
    unions: Vec<String>,
    interfaces: Vec<String>,
    /// The class for declarations without a class of their own.
    pub(super) rest: String,
    /// The names of all classes, and of the types that generated code uses, each with the turn of
    /// its file. The turn is the file's place in the order of naming.
    taken: BTreeMap<String, usize>,
    /// The turns of the files that declare the interfaces, and of those that declare the unions.
    turns: [Vec<usize>; 2],
}

/// The turn of built-in files and of the types that generated code uses.
const FIRST: usize = 0;

impl Types {
    /// Names the classes file by file, imports first. So the classes of an imported file have the
    /// same names as in the code for that file alone, unless an earlier file has classes or records
    /// of these names.
    pub(super) fn new(model: &Model, sources: &Sources, stem: &str) -> Self {
        let files = sources.resolved();
        let turns: HashMap<FileId, usize> = files.iter().zip(FIRST + 1..).map(|(file, turn)| (*file, turn)).collect();
        let turn = |span: Span| turns.get(&sources.importing(span)).copied().unwrap_or(FIRST);
        let mut types = Self {
            enums: vec![String::new(); model.enums.len()],
            structs: vec![String::new(); model.structs.len()],
            unions: vec![String::new(); model.unions.len()],
            interfaces: vec![String::new(); model.interfaces.len()],
            rest: String::new(),
            taken: TYPES.iter().chain(&NO_TYPES).map(|&name| (name.to_owned(), FIRST)).collect(),
            turns: [
                model.interfaces.iter().map(|found| turn(found.span)).collect(),
                model.unions.iter().map(|found| turn(found.span)).collect(),
            ],
        };
        let mut of_turns: Vec<Vec<Declared>> = vec![Vec::new(); files.len() + 1];
        // Interfaces come first, because other programs know them by name.
        let interfaces = model.interfaces.iter().enumerate().map(|(at, found)| (Declared::Interface(at), found.span));
        let enums = model.enums.iter().enumerate().map(|(at, found)| (Declared::Enum(at), found.span));
        let structs = model.structs.iter().enumerate().map(|(at, found)| (Declared::Struct(at), found.span));
        let unions = model.unions.iter().enumerate().map(|(at, found)| (Declared::Union(at), found.span));
        for (declared, span) in interfaces.chain(enums).chain(structs).chain(unions) {
            of_turns[turn(span)].push(declared);
        }
        // A record hides classes of its name in its interface and in all interfaces that extend it.
        // So no later class gets a record's name.
        let mut records = BTreeSet::new();
        for (turn, declared) in of_turns.iter().enumerate() {
            declared.iter().for_each(|declared| types.name(model, *declared, turn, &records));
            for declared in declared {
                if let Declared::Interface(at) = declared {
                    let methods = model.remote_methods(InterfaceId(*at));
                    let methods = methods.into_iter().zip(types.methods(model, InterfaceId(*at)).1);
                    records.extend(methods.filter(|(method, _)| may_have_record(method)).map(|(_, record)| record));
                }
            }
        }
        let mut rest = format!("{}Idl", pascal(&stem.replace(|one: char| !one.is_ascii_alphanumeric(), "_")));
        while types.taken.contains_key(&rest) {
            rest.push('_');
        }
        types.taken.insert(rest.clone(), files.len());
        types.rest = rest;
        types
    }

    /// Names the class of a declaration. The name differs from the names of all earlier classes and
    /// records.
    fn name(&mut self, model: &Model, declared: Declared, turn: usize, records: &BTreeSet<String>) {
        let endings: &[&str] = if let Declared::Interface(_) = declared { &["Info", "Proxy"] } else { &["Type"] };
        let (given, mut name) = match declared {
            Declared::Interface(at) => (&mut self.interfaces[at], constant(&model.interfaces[at].name)),
            Declared::Enum(at) => (&mut self.enums[at], pascal(&model.enums[at].name)),
            Declared::Struct(at) => (&mut self.structs[at], pascal(&model.structs[at].name)),
            Declared::Union(at) => (&mut self.unions[at], pascal(&model.unions[at].name)),
        };
        let with_endings = |name: &str| -> Vec<String> {
            std::iter::once("").chain(endings.iter().copied()).map(|ending| format!("{name}{ending}")).collect()
        };
        while with_endings(&name).iter().any(|one| self.taken.contains_key(one) || records.contains(one)) {
            name.push('_');
        }
        self.taken.extend(with_endings(&name).into_iter().map(|name| (name, turn)));
        *given = name;
    }

    /// Returns distinct names for nested classes of a union. The classes hide no other class that
    /// the union could use.
    pub(super) fn within_union(&self, id: UnionId, names: impl Iterator<Item = String>) -> Vec<String> {
        self.within(self.turns[1][id.0], names)
    }

    /// Returns distinct names for nested classes of a declaration in the file with this turn.
    fn within(&self, turn: usize, names: impl Iterator<Item = String>) -> Vec<String> {
        let is_hidden = |name: &String| self.taken.get(name).is_some_and(|of| *of <= turn);
        let mut given = BTreeSet::new();
        let distinct = |mut name: String| {
            while is_hidden(&name) || !given.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        names.map(distinct).collect()
    }

    /// Returns distinct names for an interface's methods, inherited ones first, and the names of
    /// the records of their results. The methods' names differ from those of the methods that every
    /// object or proxy has.
    pub(super) fn methods(&self, model: &Model, id: InterfaceId) -> (Vec<String>, Vec<String>) {
        let mut taken: BTreeSet<String> = METHODS.iter().chain(&OF_PROXIES).map(|&name| name.to_owned()).collect();
        let methods = model.lineage(id).into_iter().flat_map(|id| {
            let turn = self.turns[0][id.0];
            model.interfaces[id.0].remote_methods().map(move |method| (method, turn))
        });
        let named = |(method, turn): (&Method, usize)| {
            let name = unique(&mut taken, camel(&method.name));
            let record = format!("{}{}Result", name[..1].to_ascii_uppercase(), &name[1..]);
            (name, self.within(turn, std::iter::once(record)).remove(0))
        };
        methods.map(named).unzip()
    }

    /// Returns the class of a structure, a union or an enumeration.
    pub(super) fn class(&self, ty: &Type) -> &str {
        match ty {
            Type::Enum(id) => &self.enums[id.0],
            Type::Struct(id) => &self.structs[id.0],
            Type::Union(id) => &self.unions[id.0],
            _ => "void",
        }
    }

    pub(super) fn interface(&self, id: InterfaceId) -> &str {
        &self.interfaces[id.0]
    }
}

/// A declaration with a class, by its index in the model.
#[derive(Clone, Copy)]
enum Declared {
    Interface(usize),
    Enum(usize),
    Struct(usize),
    Union(usize),
}

/// Whether a method may have several results, for which its interface has a record.
pub(super) fn may_have_record(method: &Method) -> bool {
    method.params.iter().filter(|param| param.direction.is_out()).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_names_follow_the_java_conventions() {
        let camels =
            ["pfs_open", "Add", "URLOf", "data_size", "GET_ALL", "x", "class", "_1", "getURL", "ID"].map(camel);
        assert_eq!(camels, ["pfsOpen", "add", "urlOf", "dataSize", "getAll", "x", "class_", "v1", "getURL", "id"]);
        assert_eq!(
            ["PFS_STAT", "Mark", "FILETIME", "tag_list"].map(pascal),
            ["PfsStat", "Mark", "Filetime", "TagList"]
        );
    }

    #[test]
    fn colliding_java_names_get_a_suffix() {
        assert_eq!(members(["Add", "add", "Wait"].into_iter()), ["add", "add_", "wait_"]);
        let (given, came) = parameters(["pos", "posResult", "call"].into_iter());
        assert_eq!(given, ["pos", "posResult", "call_"]);
        assert_eq!(came[0], "posResult_");
    }

    #[test]
    fn package_names_are_dotted_identifiers() {
        assert!(is_package("org.example.calc") && !is_package("org..calc") && !is_package("a.int") && !is_package(""));
        assert!(is_package("javas") && is_package("a.java") && !is_package("java") && !is_package("java.calc"));
        assert_eq!([package("calc"), package("my-calc2"), package("9")], ["calc", "mycalc2", "idl9"]);
    }
}
