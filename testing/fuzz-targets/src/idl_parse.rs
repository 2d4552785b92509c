//! Fuzzes the IDL compiler, from the lexer to the generated code: every text results in code or in
//! diagnostics, and syntax trees keep every byte. The text after a line `---` is the ACF file.

use obvia_idl::Compiler;
use obvia_idl::model::InterfaceId;
use std::path::Path;

pub fn run(input: &[u8]) {
    let text = crate::text(input);
    let (tree, diagnostics) = obvia_idl::syntax::parse(text);
    assert_eq!(tree.text(), text);
    let has_errors = tree.root().descendants().any(|node| node.kind() == obvia_idl::syntax::SyntaxKind::Error);
    assert!(!has_errors || !diagnostics.is_empty(), "an error node, and nothing is said of it");
    // The directory does not exist, so that imports find only the built-in files.
    let path = Path::new("no-such-directory/fuzz.idl");
    let (text, side) = text.split_once("\n---\n").unwrap_or((text, ""));
    match Compiler::new().acf_text(path.with_extension("acf"), side).check_text(path, text) {
        Ok(compilation) => {
            let _ = obvia_idl::tools::lint::lint(&compilation);
            let changes = obvia_idl::tools::compatibility::breaking_changes(&compilation, &compilation);
            assert!(changes.is_empty(), "a file differs from itself: {changes:?}");
            // A back end may still refuse an accepted text.
            let _ = obvia_idl::emit::rust::emit(&compilation);
            let _ = obvia_idl::emit::c::emit(&compilation, "fuzz");
            let _ = obvia_idl::emit::java::emit(&compilation, "fuzz", None);
            for id in (0..compilation.model.interfaces.len()).map(InterfaceId) {
                let _ = obvia_idl::emit::rust::component(&compilation.model, id);
                let _ = obvia_idl::emit::c::component(&compilation.model, id);
            }
            let _ = obvia_idl::emit::rust::random_calls(&compilation, "fuzz");
            let _ = obvia_idl::emit::c::random_calls(&compilation, "fuzz");
            check_pages(&obvia_idl::tools::doc::pages(&[compilation]));
        }
        Err(failure) => {
            assert!(!failure.diagnostics.is_empty(), "failed without saying why");
            // Rendering shows the source line of the diagnostic.
            let _ = failure.to_string();
        }
    }
}

/// Checks that no text of the IDL file becomes markup in the reference pages.
fn check_pages(pages: &[obvia_idl::tools::doc::Page]) {
    for page in pages.iter().filter(|page| page.name.ends_with(".html")) {
        assert_eq!(page.text.matches("<script").count(), 2, "{}", page.name);
        let (begins, ends) = (page.text.matches('<').count(), page.text.matches('>').count());
        assert_eq!(begins, ends, "{} has a tag that is open", page.name);
        assert!(!page.text.contains(|one: char| one.is_control() && !matches!(one, '\n' | '\t')), "{}", page.name);
    }
}
