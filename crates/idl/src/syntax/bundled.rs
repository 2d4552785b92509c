//! The files that are a part of the compiler.

use super::ast::{Item, ParsedFile};
use super::parser::Parser;
use crate::text::diagnostic::Diagnostic;
use crate::text::lexer::lex;
use crate::text::macros::Macros;
use crate::text::preprocess::preprocess;
use crate::text::source::{FileId, Sources, Span};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

thread_local! {
    /// The declarations of each built-in file that this thread has parsed. The key is the file's
    /// name. The value also has the file's number in the compilation that parsed the file. The
    /// places of the declarations contain this number, which is the same in most compilations of a
    /// program.
    static PARSED: RefCell<HashMap<&'static str, ParsedFile>> = RefCell::default();
}

/// Returns the declarations of a built-in file, to which no other file's macros apply.
pub(crate) fn parse_bundled(
    name: &'static str,
    file: FileId,
    sources: &mut Sources,
    diagnostics: &mut Vec<Diagnostic>,
) -> Rc<[Item]> {
    let known = PARSED.with_borrow(|parsed| parsed.get(name).filter(|(number, _)| *number == file).cloned());
    if let Some((_, items)) = known {
        return items;
    }
    let items = parse(file, sources, diagnostics);
    PARSED.with_borrow_mut(|parsed| parsed.insert(name, (file, items.clone())));
    items
}

fn parse(file: FileId, sources: &mut Sources, diagnostics: &mut Vec<Diagnostic>) -> Rc<[Item]> {
    let text = &sources.file(file).text;
    let end = Span { file, start: text.len() as u32, end: text.len() as u32 };
    let tokens = lex(text, file, diagnostics);
    let output = preprocess(&tokens, sources, &mut Macros::new(), diagnostics);
    Parser::new(&output.tokens, end, sources, diagnostics).file().into()
}

#[cfg(test)]
mod tests {
    use super::parse_bundled;
    use crate::syntax::ast::Item;
    use crate::text::source::{FileId, Role, Sources};
    use std::path::Path;
    use std::rc::Rc;

    #[test]
    fn declarations_are_parsed_again_for_another_number_of_the_file() {
        let parsed = |before: usize| {
            let mut sources = Sources::default();
            let add = |_| sources.add(Path::new("some.idl"), "typedef long Some;".to_owned(), Role::BuiltIn);
            let file = (0..=before).filter_map(add).last().expect("there is room for files");
            (parse_bundled("some.idl", file, &mut sources, &mut Vec::new()), file)
        };
        let file_of = |items: &[Item]| match items {
            [Item::Typedef(_, _, declarators)] => declarators[0].name.span.file,
            _ => panic!("{items:?}"),
        };
        let ((first, _), (same, _), (other, file)) = (parsed(0), parsed(0), parsed(1));
        assert!(Rc::ptr_eq(&first, &same));
        assert_eq!((file_of(&first), file_of(&other)), (FileId(0), file));
    }
}
