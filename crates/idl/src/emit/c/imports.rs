//! The imports of a file: the headers that its header includes, and the imported files without a
//! header.
//!
//! The back end makes no header for a file with a part that it does not support. Another file may
//! still import that file, and use its interfaces in methods that are called within one process. A
//! forward declaration is enough for pointers to such interfaces.

use super::proxies::Proxies;
use super::{automation, refuse};
use crate::Diagnostic;
use crate::compile::{BUILT_IN, Compilation};
use crate::model::{Interface, InterfaceId, Method, Model, Object, StructId, Type, UnionId, events};
use crate::text::source::{File, FileId, Role, Sources, Span};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The dependency of a declaration in one file on a declaration in another file.
struct Need<'m> {
    /// The place of the declaration that needs the other declaration.
    span: Span,
    imported: bool,
    /// The name and the place of the other declaration.
    name: &'m str,
    other: Span,
}

/// The imported files for which the back end makes no header, and the interfaces with proxies.
pub(super) struct Imports<'m> {
    pub(super) proxies: Proxies,
    sources: &'m Sources,
    needs: Vec<Need<'m>>,
    /// The imported files whose headers are included by the compiled file's header, each with its
    /// name without its ending.
    included: Vec<(FileId, String)>,
    /// The refused files, each with one of its errors.
    refused: HashMap<FileId, Diagnostic>,
}

impl<'m> Imports<'m> {
    pub(super) fn of(compilation: &'m Compilation) -> Self {
        let model = &compilation.model;
        let sources = &compilation.sources;
        let proxies = Proxies::of(compilation);
        let needs = needs(model);
        let is_on_disk = |span: Span| sources.file(span.file).role.is_on_disk();
        let all = (0..model.interfaces.len()).map(InterfaceId);
        let imported = all.filter(|id| {
            let found = &model.interfaces[id.0];
            found.imported && found.bare.is_none() && is_on_disk(found.span)
        });
        let errors = imported.flat_map(|id| refuse(model, &proxies, id).into_iter().map(move |error| (id, error)));
        let errors = errors.map(|(id, error)| (model.interfaces[id.0].span, error));
        let automation = if model.permissive { Vec::new() } else { automation(model) };
        let automation = automation.into_iter().filter(|(_, imported)| *imported).map(|(error, _)| error);
        let errors = errors.chain(automation.filter_map(|error| Some((error.span?, error))));
        let mut refused: HashMap<FileId, Diagnostic> = HashMap::new();
        for (span, error) in errors.filter(|(span, _)| is_on_disk(*span)) {
            refused.entry(sources.importing(span)).or_insert(error);
        }
        // A file that needs a refused file has no header, either.
        loop {
            let file = |need: &Need<'_>| sources.importing(need.span);
            let is_new = |need: &&Need<'_>| need.imported && !refused.contains_key(&file(need));
            let next = needs
                .iter()
                .filter(is_new)
                .find_map(|need| refused.get(&sources.importing(need.other)).map(|error| (file(need), error.clone())));
            let Some((file, error)) = next else { break };
            refused.insert(file, error);
        }
        let included = included(compilation, &refused, &needs);
        Self { proxies, sources, needs, included, refused }
    }

    /// Returns errors for the file's declarations that need a refused file.
    pub(super) fn refuse(&self) -> Vec<Diagnostic> {
        let mut known = HashSet::new();
        let own = self.needs.iter().filter(|need| !need.imported && known.insert((need.span, need.other)));
        let refusal = |need: &Need<'_>| {
            let file = self.sources.importing(need.other);
            let why = self.refused.get(&file)?;
            let file = self.sources.file(file).path.file_name().unwrap_or_default().to_string_lossy();
            let text = format!("`{}` is declared in `{file}`, for which the C back end makes no header", need.name);
            let error = Diagnostic::error("not-yet", need.span, text);
            let error = error.related(why.span.unwrap_or(need.other), why.message.as_str());
            Some(error.help("declare it in a file of its own, which is compiled for C, too"))
        };
        own.filter_map(refusal).collect()
    }

    /// Returns errors for the imported files whose headers have the name of another file's header.
    /// An `#include` would find only one of two headers of the same name. `stem` is the compiled
    /// file's name without its ending.
    pub(super) fn same_headers(&self, stem: &str) -> Vec<Diagnostic> {
        let mut known = HashMap::from([(stem, FileId(0))]);
        let mut refused = Vec::new();
        for (file, stem) in &self.included {
            let first = *known.entry(stem.as_str()).or_insert(*file);
            if first == *file {
                continue;
            }
            let [path, other] = [*file, first].map(|file| self.sources.file(file).path.display());
            let [here, there] = [*file, first].map(|file| Span { file, start: 0, end: 0 });
            let text = format!("`{path}` and `{other}` have headers of one name in C: `{stem}.h`");
            let error = Diagnostic::error("taken-name", here, text).related(there, "the other one");
            refused.push(error.help("give one of the files another name"));
        }
        refused
    }

    /// Whether the header contains a forward declaration of an imported interface, because the file
    /// of the interface has no header.
    pub(super) fn is_announced(&self, found: &Interface) -> bool {
        self.refused.contains_key(&self.sources.importing(found.span))
    }

    /// Whether this file, or a header that it includes, describes an interface.
    pub(super) fn is_described(&self, model: &Model, id: InterfaceId) -> bool {
        let found = &model.interfaces[id.0];
        let file = self.sources.importing(found.span);
        let is_here = !found.imported || model.is_prelude(found.span);
        self.proxies.are_made(model, id) && (is_here || self.included.iter().any(|(included, _)| *included == file))
    }

    /// Returns the names, without endings, of the files whose headers are included by the compiled
    /// file's header.
    pub(super) fn included(&self) -> impl Iterator<Item = &str> {
        self.included.iter().map(|(_, stem)| stem.as_str())
    }
}

/// Returns the files whose headers are included by the compiled file's header, each with its name
/// without its ending.
fn included(
    compilation: &Compilation,
    refused: &HashMap<FileId, Diagnostic>,
    needs: &[Need<'_>],
) -> Vec<(FileId, String)> {
    let name_of = |file: &File| match file.role {
        Role::Idl => Some(file.path.file_name()?.to_string_lossy().into_owned()),
        // `ocidl.idl` is the only built-in file for which libobvia has a header.
        Role::BuiltIn => compilation.is_bundled(file, events::FILE).then(|| events::FILE.to_owned()),
        Role::Included | Role::SideFile | Role::Made => None,
    };
    // Built-in imports need no header, unless a file of that name was read and declares types.
    let model = &compilation.model;
    let types = model.structs.iter().map(|found| found.span).chain(model.unions.iter().map(|found| found.span));
    let types = types.chain(model.enums.iter().map(|found| found.span));
    let types = types.chain(model.typedefs.iter().map(|found| found.span));
    let declared = types.chain(model.interfaces.iter().map(|found| found.span)).map(|span| span.file);
    // If a macro has made a declaration's name by `##`, no file contains the declaration's
    // position. `importing` finds the file whose header has the declaration.
    let own = needs.iter().filter(|need| !need.imported);
    let needed = own.map(|need| compilation.sources.importing(need.other));
    let declaring: HashSet<FileId> = declared.chain(needed).collect();
    let files = (0..).map(FileId).zip(compilation.sources.files()).skip(1);
    let files = files.filter(|(id, _)| !refused.contains_key(id));
    let needed = files.filter_map(|(id, file)| Some((id, name_of(file)?)));
    let needed = needed.filter(|(id, name)| !BUILT_IN.contains(&name.as_str()) || declaring.contains(id));
    let stem = |name: String| Path::new(&name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    needed.filter_map(|(id, name)| Some((id, stem(name)?))).collect()
}

/// Returns the declarations of other files that each declaration needs: types, base interfaces, and
/// the interfaces of objects that methods pass to other processes.
fn needs<'m>(model: &'m Model) -> Vec<Need<'m>> {
    let mut needs = Vec::new();
    let mut add = |(span, imported): (Span, bool), ty: &Type, travels: bool| {
        let (name, other) = match model.innermost(ty) {
            Type::Struct(id) => (&model.structs[id.0].name, model.structs[id.0].span),
            Type::Union(id) => (&model.unions[id.0].name, model.unions[id.0].span),
            Type::Enum(id) => (&model.enums[id.0].name, model.enums[id.0].span),
            Type::Interface(Object::Known(id)) if travels => {
                (&model.interfaces[id.0].name, model.interfaces[id.0].span)
            }
            _ => return,
        };
        if other.file != span.file && !model.is_prelude(other) {
            needs.push(Need { span, imported, name, other });
        }
    };
    for (at, found) in model.structs.iter().enumerate() {
        let ty = Type::Struct(StructId(at));
        model.inner(&ty).into_iter().for_each(|ty| add((found.span, found.imported), ty, false));
    }
    for (at, found) in model.unions.iter().enumerate() {
        let ty = Type::Union(UnionId(at));
        model.inner(&ty).into_iter().for_each(|ty| add((found.span, found.imported), ty, false));
    }
    for found in &model.typedefs {
        add((found.span, found.imported), &found.ty, false);
    }
    for found in &model.interfaces {
        let base = found.base.map(|base| Type::Interface(Object::Known(base)));
        base.iter().for_each(|base| add((found.span, found.imported), base, true));
        let params = |method: &'m Method| method.params.iter().map(|param| (param, !method.local));
        for (param, travels) in found.methods.iter().flat_map(params) {
            // The interfaces of objects in structures are needed only by the code for the compiled
            // file's own methods.
            let deep = model.reachable(&param.ty).filter(|_| travels && !found.imported);
            deep.chain([&param.ty]).for_each(|ty| add((param.span, found.imported), ty, travels));
        }
    }
    needs
}
