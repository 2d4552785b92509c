//! Feeds texts to the IDL compiler, from the lexer to the code that it writes: whatever they say, it ends, and says what is wrong.
//! Their syntax trees keep every byte. What stands behind a line `---` is the text's side file.

use obvia_idl::Compiler;
use obvia_idl::model::InterfaceId;
use std::path::Path;

pub fn run(input: &[u8]) {
    let text = crate::text(input);
    let (tree, diagnostics) = obvia_idl::syntax::parse(text);
    assert_eq!(tree.text(), text);
    let has_errors = tree.root().descendants().any(|node| node.kind() == obvia_idl::syntax::SyntaxKind::Error);
    assert!(!has_errors || !diagnostics.is_empty(), "an error node, and nothing is said of it");
    // No directory of that name: nothing that the text imports is there, but for what the compiler knows itself.
    let path = Path::new("no-such-directory/fuzz.idl");
    let (text, side) = text.split_once("\n---\n").unwrap_or((text, ""));
    match Compiler::new().acf_text(path.with_extension("acf"), side).check_text(path, text) {
        Ok(compilation) => {
            // What was found good can still be refused by a language.
            let _ = obvia_idl::emit::rust::emit(&compilation);
            let _ = obvia_idl::emit::c::emit(&compilation, "fuzz");
            for id in (0..compilation.model.interfaces.len()).map(InterfaceId) {
                let _ = obvia_idl::emit::rust::component(&compilation.model, id);
                let _ = obvia_idl::emit::c::component(&compilation.model, id);
            }
            let _ = obvia_idl::emit::rust::random_calls(&compilation, "fuzz");
            let _ = obvia_idl::emit::c::random_calls(&compilation, "fuzz");
        }
        Err(failure) => {
            assert!(!failure.diagnostics.is_empty(), "failed without saying why");
            // The finding is shown with its line.
            let _ = failure.to_string();
        }
    }
}
