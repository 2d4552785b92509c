//! The names of IDL in Java.

use crate::model::{InterfaceId, Model, Type};
use std::collections::BTreeSet;

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

/// The local variables of generated methods.
const LOCALS: [&str; 8] = ["arguments", "call", "frame", "i", "length", "memory", "object", "results"];

/// Words beyond [`KEYWORDS`] that cannot be the name of a type.
const NO_TYPES: [&str; 5] = ["permits", "record", "sealed", "var", "yield"];

/// Types that generated code uses without their package.
const TYPES: [&str; 52] = [
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
    "InCall",
    "Integer",
    "InterfaceInfo",
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

/// Returns the names of parameters, and the second names for results of parameters that travel both
/// ways.
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
    /// All of these names, and the names of types that generated code uses.
    taken: BTreeSet<String>,
}

impl Types {
    pub(super) fn new(model: &Model, stem: &str) -> Self {
        let mut taken: BTreeSet<String> = TYPES.iter().chain(&NO_TYPES).map(|&name| name.to_owned()).collect();
        // Interfaces come first, because other programs know them by name.
        let mut interfaces = Vec::new();
        for found in &model.interfaces {
            let mut name = unique(&mut taken, constant(&found.name));
            while !taken.insert(format!("{name}Info")) || !taken.insert(format!("{name}Proxy")) {
                name = unique(&mut taken, format!("{name}_"));
            }
            interfaces.push(name);
        }
        let mut value = |name: &str| {
            let mut name = unique(&mut taken, pascal(name));
            while !taken.insert(format!("{name}Type")) {
                name = unique(&mut taken, format!("{name}_"));
            }
            name
        };
        let enums = model.enums.iter().map(|found| value(&found.name)).collect();
        let structs = model.structs.iter().map(|found| value(&found.name)).collect();
        let unions = model.unions.iter().map(|found| value(&found.name)).collect();
        let rest =
            unique(&mut taken, format!("{}Idl", pascal(&stem.replace(|one: char| !one.is_ascii_alphanumeric(), "_"))));
        Self { enums, structs, unions, interfaces, rest, taken }
    }

    /// Returns names for nested classes that hide no other class.
    pub(super) fn within(&self, names: impl Iterator<Item = String>) -> Vec<String> {
        let mut taken = self.taken.clone();
        names.map(|name| unique(&mut taken, name)).collect()
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

/// Returns distinct names for an interface's methods, inherited ones first. They differ from the
/// methods of every object.
pub(super) fn methods(model: &Model, id: InterfaceId) -> Vec<String> {
    members(model.remote_methods(id).into_iter().map(|method| method.name.as_str()))
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
