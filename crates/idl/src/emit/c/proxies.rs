//! The interfaces that have proxies. The code of a file contains the proxies of its own interfaces,
//! and of the built-in interfaces that its own interfaces extend.

use crate::compile::Compilation;
use crate::model::{Interface, InterfaceId, Model};
use crate::text::source::FileId;
use std::collections::HashSet;

/// The file that is compiled. The files that it imports come after it.
const COMPILED: FileId = FileId(0);

/// The built-in interfaces that have proxies, each with the file whose code contains these proxies.
pub(super) struct Proxies {
    /// The file of each interface.
    files: Vec<FileId>,
    built_in: HashSet<(FileId, InterfaceId)>,
}

impl Proxies {
    pub(super) fn of(compilation: &Compilation) -> Self {
        let model = &compilation.model;
        let file = |found: &Interface| {
            if found.imported { compilation.sources.importing(found.span) } else { COMPILED }
        };
        let files: Vec<FileId> = model.interfaces.iter().map(file).collect();
        let all = (0..model.interfaces.len()).map(InterfaceId);
        let remote = all.filter(|id| model.interfaces[id.0].bare.is_none() && !model.interfaces[id.0].local);
        let is_built_in = |id: &InterfaceId| model.is_prelude(model.interfaces[id.0].span);
        let built_in = remote
            .flat_map(|id| model.lineage(id).into_iter().map(move |base| (id, base)))
            .filter(|(_, base)| is_built_in(base))
            .map(|(id, base)| (files[id.0], base))
            .collect();
        Self { files, built_in }
    }

    /// Whether the methods of an interface can pass objects of another interface to other
    /// processes.
    pub(super) fn has(&self, model: &Model, of: InterfaceId, other: InterfaceId) -> bool {
        self.are_in(model, self.files[of.0], other)
    }

    /// Whether an interface has proxies that the compiled file's code can use.
    pub(super) fn are_made(&self, model: &Model, id: InterfaceId) -> bool {
        self.are_in(model, COMPILED, id)
    }

    fn are_in(&self, model: &Model, file: FileId, id: InterfaceId) -> bool {
        let found = &model.interfaces[id.0];
        !found.local && (!model.is_prelude(found.span) || self.built_in.contains(&(file, id)))
    }
}
