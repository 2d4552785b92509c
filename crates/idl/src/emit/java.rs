//! The Java back end: an interface, a record or an enumeration for each declaration, with proxies
//! and stubs for obvia-runtime.

mod arithmetic;
mod check;
mod doc;
mod expression;
mod fields;
mod graph;
mod interface;
mod limits;
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

pub use names::is_package;

use crate::Diagnostic;
use crate::compile::Compilation;
use crate::model::{EnumId, InterfaceId, Method, Model, StructId, Type, UnionId, all_arms};
use crate::plan::{Kinds, LeftOut, Scope, is_plain, keep_here, kinds};
use crate::text::writer::Writer;
use names::Types;
use std::collections::{BTreeSet, HashSet};
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
    omitted: LeftOut,
}

impl Context<'_> {
    /// Whether a type has pointers.
    fn has_pointers(&self, ty: &Type) -> bool {
        !is_plain(self.model, ty)
    }

    /// Whether a structure or a union has a class.
    fn has_class(&self, ty: &Type) -> bool {
        refusal::members(self.model, ty).is_none() && !self.omitted.has_type(ty)
    }
}

/// The classes of other packages that generated code may import.
const IMPORTS: [&str; 31] = [
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
    "obvia.runtime.Marshal",
    "obvia.runtime.Proxy",
    "obvia.runtime.Reference",
];

/// Treats the methods that this back end does not support as `[local]`, for a permissive compiler.
/// Returns warnings for these methods.
pub(crate) fn permit(compilation: &mut Compilation) -> Vec<Diagnostic> {
    let model = &mut compilation.model;
    let refused = keep_here(model, |model, _, method| refusal::refuse_first(model, method));
    let mut warnings = refused.unwrap_or_default();
    loop {
        let omitted = written(model).omitted;
        let is_remote = |method: &Method| !method.local;
        match keep_here(model, |model, _, method| omitted.error(model, method).filter(|_| is_remote(method))) {
            Some(found) => warnings.extend(found),
            None => return warnings,
        }
    }
}

/// The interfaces that have classes, and the declarations that are omitted.
struct Written {
    remote: Vec<InterfaceId>,
    omitted: LeftOut,
    warnings: Vec<Diagnostic>,
    refused: Vec<Diagnostic>,
}

fn written(model: &Model) -> Written {
    let own = |id: &InterfaceId| !model.is_built_in(*id) && model.interfaces[id.0].bare.is_none();
    let all: Vec<InterfaceId> = (0..model.interfaces.len()).map(InterfaceId).filter(own).collect();
    let (mut remote, mut warnings, mut refused, mut unsupported) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for id in all {
        if let Some(warning) = refusal::left_out(model, id) {
            warnings.push(warning);
            continue;
        }
        let found = refusal::refuse(model, id);
        match found.first() {
            None => remote.push(id),
            // Imported interfaces are compiled with their own file, which reports the errors.
            Some(first) if model.interfaces[id.0].imported || model.permissive => {
                unsupported.push((id, first.message.clone()));
            }
            Some(_) => refused.extend(found),
        }
    }
    let scope = if model.permissive { Scope::All } else { Scope::Imported };
    let omitted = LeftOut::new(model, unsupported, false, scope);
    remote.retain(|id| !omitted.has(*id));
    if model.permissive {
        warnings.extend(omitted.warnings(model));
    } else {
        let is_supported = |ty: &Type| refusal::members(model, ty).is_none();
        refused.extend(omitted.errors(model, &remote.iter().copied().collect(), is_supported));
    }
    Written { remote, omitted, warnings, refused }
}

/// Returns the Java source for a file's declarations. `stem` is the file's name without its
/// extension. The package's name is `package`, or else is derived from `stem`.
///
/// # Errors
///
/// The unsupported parts of the file's own interfaces, each with the reason.
pub fn emit(compilation: &Compilation, stem: &str, package: Option<&str>) -> Result<Source, Vec<Diagnostic>> {
    let model = &compilation.model;
    let Written { remote, omitted, warnings, refused } = written(model);
    if !refused.is_empty() {
        return Err(refused);
    }
    let context = Context { model, types: Types::new(model, &compilation.sources, stem), omitted };
    let too_large = limits::errors(&context, &remote);
    if !too_large.is_empty() {
        return Err(too_large);
    }
    let package = package.map_or_else(|| names::package(stem), str::to_owned);
    let made_from =
        format!("// Generated by obvia-idl {} from {}. Do not edit.", env!("CARGO_PKG_VERSION"), compilation.name);
    let folder: PathBuf = package.split('.').collect();
    let file =
        |(name, body): (String, String)| (folder.join(format!("{name}.java")), whole(&made_from, &package, &body));
    let files = classes(&context, &remote, &compilation.name).into_iter().map(file).collect();
    Ok(Source { files, left_out: warnings })
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
    let structs = used_built_in(context, remote).into_iter().chain(model.built_in.structs..model.structs.len());
    for id in structs.map(StructId) {
        if is_plain(model, &Type::Struct(id)) {
            class(context.types.class(&Type::Struct(id)), &|out| types::structure(out, context, id));
        } else if context.has_class(&Type::Struct(id)) {
            class(context.types.class(&Type::Struct(id)), &|out| structures::structure(out, context, id));
        }
    }
    for id in own_unions(context) {
        class(context.types.class(&Type::Union(id)), &|out| unions::union(out, context, id));
    }
    for ty in pointed_to(context, remote) {
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

/// Returns the indices of the used structures of Automation's built-in file, such as CURRENCY. A
/// structure is used if the class of another structure or of an interface uses it.
fn used_built_in(context: &Context<'_>, remote: &[InterfaceId]) -> BTreeSet<usize> {
    let model = context.model;
    let structs = (model.built_in.structs..model.structs.len()).map(|at| Type::Struct(StructId(at)));
    let unions = (model.built_in.unions..model.unions.len()).map(|at| Type::Union(UnionId(at)));
    let declared: Vec<Type> = structs.chain(unions).filter(|ty| context.has_class(ty)).collect();
    let params = remote.iter().flat_map(|id| model.remote_methods(*id)).flat_map(|method| &method.params);
    let types = params.map(|param| &param.ty).chain(&declared);
    let built_in = model.reachable_from(types).filter_map(|ty| match ty {
        Type::Struct(id) if id.0 < model.built_in.structs && is_plain(model, ty) => Some(id.0),
        _ => None,
    });
    built_in.collect()
}

/// Returns the unions that the back end supports.
fn own_unions(context: &Context<'_>) -> impl Iterator<Item = UnionId> {
    let all = (context.model.built_in.unions..context.model.unions.len()).map(UnionId);
    all.filter(|id| context.has_class(&Type::Union(*id)))
}

/// Returns the structures, unions and enumerations for which the runtime needs descriptions. They
/// are the structures with pointers, the unions, the types of the members of these structures and
/// unions, and the types to which pointers lead.
fn pointed_to(context: &Context<'_>, remote: &[InterfaceId]) -> Vec<Type> {
    let model = context.model;
    let mut types = Kinds::default();
    for id in (model.built_in.structs..model.structs.len()).map(StructId) {
        let ty = Type::Struct(id);
        if !is_plain(model, &ty) && context.has_class(&ty) {
            types.push(ty.clone());
            types.add(model, &ty);
            let found = &model.structs[id.0];
            found.fields.iter().for_each(|field| types.push(values::flat(&field.ty).0.clone()));
            found.conformant.iter().for_each(|(element, ..)| types.push(element.clone()));
        }
    }
    for id in own_unions(context) {
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
    doc::Doc::new(&format!(
        "The constants and other declarations of {} without a class of their own.",
        doc::escaped(file)
    ))
    .write(out);
    out.line(format!("public final class {} {{", context.types.rest));
    let infos = remote.iter().map(|id| format!("{}Info", context.types.interface(*id)));
    let taken = infos.chain(["List".to_owned()]).collect();
    types::constants(out, &context.model.consts[context.model.built_in.consts..], taken);
    out.line(format!("private {}() {{}}", context.types.rest));
    out.line("");
    out.line("/** All interfaces of this file and of the files that it imports. */");
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
