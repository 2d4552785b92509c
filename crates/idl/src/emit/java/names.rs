//! The names of IDL in Java.

use crate::model::{InterfaceId, Method, Model, Type};
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
    /// The names of all classes, and of the types that generated code uses.
    taken: BTreeSet<String>,
    /// As `taken`, without the classes of the file itself.
    of_imported: BTreeSet<String>,
}

impl Types {
    pub(super) fn new(model: &Model, stem: &str) -> Self {
        let mut types = Self {
            enums: vec![String::new(); model.enums.len()],
            structs: vec![String::new(); model.structs.len()],
            unions: vec![String::new(); model.unions.len()],
            interfaces: vec![String::new(); model.interfaces.len()],
            rest: String::new(),
            taken: TYPES.iter().chain(&NO_TYPES).map(|&name| name.to_owned()).collect(),
            of_imported: BTreeSet::new(),
        };
        // The imported declarations are named first: their names are the same in all files that
        // import them.
        types.name(model, true);
        types.of_imported.clone_from(&types.taken);
        // The file's interfaces may inherit the records of imported ones, which would hide its
        // classes.
        let imported = (0..model.interfaces.len()).map(InterfaceId).filter(|id| model.interfaces[id.0].imported);
        let records = |id| {
            let methods = model.remote_methods(id).into_iter().zip(types.methods(model, id).1);
            methods.filter(|(method, _)| may_have_record(method)).map(|(_, record)| record).collect::<Vec<_>>()
        };
        let records: BTreeSet<String> = imported.flat_map(records).collect();
        types.taken.extend(records.iter().cloned());
        types.name(model, false);
        types.taken.retain(|name| !records.contains(name));
        let rest = format!("{}Idl", pascal(&stem.replace(|one: char| !one.is_ascii_alphanumeric(), "_")));
        types.rest = unique(&mut types.taken, rest);
        types
    }

    /// Names the classes of the imported declarations, or of the file's own declarations.
    fn name(&mut self, model: &Model, imported: bool) {
        let taken = &mut self.taken;
        // Interfaces come first, because other programs know them by name.
        for (name, found) in self.interfaces.iter_mut().zip(&model.interfaces) {
            if found.imported == imported {
                *name = class_name(taken, constant(&found.name), &["Info", "Proxy"]);
            }
        }
        let enums = model.enums.iter().map(|found| (&found.name, found.imported));
        let structs = model.structs.iter().map(|found| (&found.name, found.imported));
        let unions = model.unions.iter().map(|found| (&found.name, found.imported));
        let names = self.enums.iter_mut().chain(&mut self.structs).chain(&mut self.unions);
        for (name, (found, is_imported)) in names.zip(enums.chain(structs).chain(unions)) {
            if is_imported == imported {
                *name = class_name(taken, pascal(found), &["Type"]);
            }
        }
    }

    /// Returns distinct names for nested classes of a declaration. The classes hide no other class
    /// that the declaration could use.
    pub(super) fn within(&self, imported: bool, names: impl Iterator<Item = String>) -> Vec<String> {
        let hidden = if imported { &self.of_imported } else { &self.taken };
        let mut given = BTreeSet::new();
        let distinct = |mut name: String| {
            while hidden.contains(&name) || !given.insert(name.clone()) {
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
        let lineage = model.lineage(id).into_iter().map(|id| &model.interfaces[id.0]);
        let methods = lineage.flat_map(|found| found.remote_methods().map(move |method| (method, found.imported)));
        let named = |(method, imported): (&Method, bool)| {
            let name = unique(&mut taken, camel(&method.name));
            let record = format!("{}{}Result", name[..1].to_ascii_uppercase(), &name[1..]);
            (name, self.within(imported, std::iter::once(record)).remove(0))
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

/// Returns a name for a class, and marks it as taken together with the names of the classes that
/// end in `endings`.
fn class_name(taken: &mut BTreeSet<String>, name: String, endings: &[&str]) -> String {
    let mut name = unique(taken, name);
    while !endings.iter().all(|ending| taken.insert(format!("{name}{ending}"))) {
        name = unique(taken, format!("{name}_"));
    }
    name
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
