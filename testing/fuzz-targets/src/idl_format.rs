//! Fuzzes the formatter of IDL files: a formatted text has the tokens of the source, and does not
//! change when it is formatted again.

use obvia_idl::tools::format::format;
use std::path::Path;

pub fn run(input: &[u8]) {
    let path = Path::new("fuzz.idl");
    match format(path, crate::text(input)) {
        Ok(made) => match format(path, &made) {
            Ok(again) => assert_eq!(again, made, "formatted twice"),
            Err(failure) => panic!("the formatted text is refused: {failure}"),
        },
        Err(failure) => {
            let is_changed = failure.diagnostics.iter().any(|found| found.code == "not-formatted");
            assert!(!is_changed, "the formatter changes the tokens");
        }
    }
}
