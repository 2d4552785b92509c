//! The Java back end: an interface, a record or an enumeration for each declaration, with proxies
//! and stubs for obvia-runtime.

mod arithmetic;
mod check;
mod doc;
mod expression;
mod fields;
mod graph;
mod interface;
mod lists;
mod members;
mod method;
mod names;
mod proxy;
mod refusal;
mod structures;
mod stub;
mod types;
mod unions;
mod values;

pub(crate) use names::is_package;

use crate::Diagnostic;
use crate::compile::Compilation;
use crate::model::{EnumId, InterfaceId, Model, StructId, Type, UnionId, all_arms};
use crate::plan::{Kinds, is_plain, kinds};
use crate::text::writer::Writer;
use names::Types;
use std::collections::HashSet;
use std::path::PathBuf;

/// The Java source for a file's declarations.
#[derive(Clone, Debug)]
pub struct Source {
    /// The files, in their package's folder.
    pub files: Vec<(PathBuf, String)>,
    /// Warnings for the omitted declarations, with the reasons.
    pub left_out: Vec<Diagnostic>,
}

/// The data that all parts of the code share.
#[derive(Debug)]
struct Context<'a> {
    model: &'a Model,
    types: Types,
}

impl Context<'_> {
    /// Whether a type has pointers.
    fn has_pointers(&self, ty: &Type) -> bool {
        !is_plain(self.model, ty)
    }
}

/// The classes of other packages that generated code may import.
const IMPORTS: [&str; 32] = [
    "java.lang.foreign.MemorySegment",
    "java.util.List",
    "java.util.Objects",
    "obvia.Bytes",
    "obvia.Chars",
    "obvia.Doubles",
    "obvia.Floats",
    "obvia.Guid",
    "obvia.Ints",
    "obvia.Longs",
    "obvia.Remote",
    "obvia.Retained",
    "obvia.RpcException",
    "obvia.Shorts",
    "obvia.runtime.Channel",
    "obvia.runtime.Flat",
    "obvia.runtime.Frame",
    "obvia.runtime.FrameReader",
    "obvia.runtime.FrameWriter",
    "obvia.runtime.Frames",
    "obvia.runtime.GraphKinds",
    "obvia.runtime.GraphReader",
    "obvia.runtime.GraphType",
    "obvia.runtime.GraphView",
    "obvia.runtime.GraphWriter",
    "obvia.runtime.Graphs",
    "obvia.runtime.InCall",
    "obvia.runtime.InterfaceInfo",
    "obvia.runtime.Interfaces",
    "obvia.runtime.Marshal",
    "obvia.runtime.Proxy",
    "obvia.runtime.Reference",
];

/// Returns the Java source for a file's declarations. `stem` is the file's name without its
/// extension, from which the package's name is derived unless `package` gives it.
///
/// # Errors
///
/// The methods that this back end does not support, each with the reason.
pub fn emit(compilation: &Compilation, stem: &str, package: Option<&str>) -> Result<Source, Vec<Diagnostic>> {
    let model = &compilation.model;
    let context = Context { model, types: Types::new(model, stem) };
    let own = |id: &InterfaceId| !model.is_built_in(*id);
    let all: Vec<InterfaceId> = (0..model.interfaces.len()).map(InterfaceId).filter(own).collect();
    let (mut remote, mut left_out, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    for id in all {
        match refusal::left_out(model, id) {
            Some(why) => left_out.push(why),
            None => {
                let why = refusal::refuse(model, id);
                // Imported interfaces are compiled with their own file, which reports the error.
                if why.is_empty() {
                    remote.push(id)
                } else if !model.interfaces[id.0].imported {
                    refused.extend(why)
                }
            }
        }
    }
    if !refused.is_empty() {
        return Err(refused);
    }
    let package = package.map_or_else(|| names::package(stem), str::to_owned);
    let made_from = format!(
        "// Made by obvia-idl {} from {}. Change the IDL, not this.",
        env!("CARGO_PKG_VERSION"),
        compilation.name
    );
    let folder: PathBuf = package.split('.').collect();
    let file =
        |(name, body): (String, String)| (folder.join(format!("{name}.java")), whole(&made_from, &package, &body));
    let files = classes(&context, &remote, &compilation.name).into_iter().map(file).collect();
    Ok(Source { files, left_out })
}

/// Returns all classes, each with its name.
fn classes(context: &Context<'_>, remote: &[InterfaceId], file: &str) -> Vec<(String, String)> {
    let model = context.model;
    let mut classes = Vec::new();
    let mut class = |name: &str, write: &dyn Fn(&mut Writer)| {
        let mut out = Writer::default();
        write(&mut out);
        classes.push((name.to_owned(), out.finish()));
    };
    for id in (model.built_in.enums..model.enums.len()).map(EnumId) {
        class(context.types.class(&Type::Enum(id)), &|out| types::enumeration(out, context, id));
    }
    for id in (model.built_in.structs..model.structs.len()).map(StructId) {
        if is_plain(model, &Type::Struct(id)) {
            class(context.types.class(&Type::Struct(id)), &|out| types::structure(out, context, id));
        } else if refusal::members(model, &Type::Struct(id)).is_none() {
            class(context.types.class(&Type::Struct(id)), &|out| structures::structure(out, context, id));
        }
    }
    for id in own_unions(model) {
        class(context.types.class(&Type::Union(id)), &|out| unions::union(out, context, id));
    }
    for ty in pointed_to(model, remote) {
        class(&format!("{}Type", context.types.class(&ty)), &|out| structures::type_class(out, context, &ty));
    }
    for id in remote {
        let name = context.types.interface(*id);
        class(name, &|out| interface::interface(out, context, *id));
        class(&format!("{name}Info"), &|out| interface::information(out, context, *id));
    }
    class(&context.types.rest, &|out| rest(out, context, remote, file));
    classes
}

/// Returns the unions that the back end supports.
fn own_unions(model: &Model) -> impl Iterator<Item = UnionId> {
    let all = (model.built_in.unions..model.unions.len()).map(UnionId);
    all.filter(|id| refusal::members(model, &Type::Union(*id)).is_none())
}

/// Returns the types to which pointers lead from structures or from methods with such structures,
/// and the contents of these types.
fn pointed_to(model: &Model, remote: &[InterfaceId]) -> Vec<Type> {
    let mut types = Kinds::default();
    for id in (model.built_in.structs..model.structs.len()).map(StructId) {
        let ty = Type::Struct(id);
        if !is_plain(model, &ty) && refusal::members(model, &ty).is_none() {
            types.push(ty.clone());
            types.add(model, &ty);
            let found = &model.structs[id.0];
            found.fields.iter().for_each(|field| types.push(values::flat(&field.ty).0.clone()));
            found.conformant.iter().for_each(|(element, ..)| types.push(element.clone()));
        }
    }
    for id in own_unions(model) {
        types.push(Type::Union(id));
        types.add(model, &Type::Union(id));
        all_arms(&model.unions[id.0]).for_each(|field| types.push(values::flat(&field.ty).0.clone()));
    }
    for id in remote.iter().filter(|id| interface::has_graphs(model, **id)) {
        kinds(model, &model.all_methods(*id)).into_iter().for_each(|ty| types.push(ty));
    }
    types.list.retain(|ty| matches!(ty, Type::Struct(_) | Type::Union(_) | Type::Enum(_)));
    types.list
}

/// Writes the class for the declarations without a class of their own.
fn rest(out: &mut Writer, context: &Context<'_>, remote: &[InterfaceId], file: &str) {
    doc::Doc::new(&format!("What {} declares beside types.", doc::escaped(file))).write(out);
    out.line(format!("public final class {} {{", context.types.rest));
    let infos = remote.iter().map(|id| format!("{}Info", context.types.interface(*id)));
    let taken = infos.chain(["List".to_owned()]).collect();
    types::constants(out, &context.model.consts[context.model.built_in.consts..], taken);
    out.line(format!("private {}() {{}}", context.types.rest));
    out.line("");
    out.line("/** Every interface of this file and of those that it imports. */");
    out.line("public static List<InterfaceInfo<?>> interfaces() {");
    let all: Vec<String> = remote.iter().map(|id| format!("{}Info.INFO", context.types.interface(*id))).collect();
    types::call(out, "return List.of", &all);
    out.line("}");
    out.line("}");
}

/// Returns the text of a file: the header, the package, the imports that the body needs, and the
/// body.
fn whole(made_from: &str, package: &str, body: &str) -> String {
    let mut text = format!("{made_from}\npackage {package};\n\n");
    let words: HashSet<&str> = body.split(|one: char| !one.is_ascii_alphanumeric() && one != '_').collect();
    let named = |path: &&&str| words.contains(path.rsplit('.').next().unwrap_or(path));
    let imports: String = IMPORTS.iter().filter(named).map(|path| format!("import {path};\n")).collect();
    text.push_str(&imports);
    if !imports.is_empty() {
        text.push('\n');
    }
    // No empty line precedes the end of a class.
    let body = body.replace("\n\n}", "\n}").replace("\n\n    }", "\n    }");
    text + &body
}
