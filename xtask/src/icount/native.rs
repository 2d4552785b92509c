//! The counting program in C++, and the layers of its instructions.

use super::Extent;
use super::callgrind::Name;
use super::floor::Floor;
use crate::native;
use crate::outcome::Outcome;
use crate::workspace;
use std::path::{Path, PathBuf};

const SOURCES: [&str; 2] = ["bench/cpp/icount.cc", "bench/cpp/object.cc"];

/// Compiles the program. Calls with short arrays execute no functions of libobvia except those that
/// hand a call over, so they are counted with the debug library.
pub(super) fn build(extent: Extent, folder: &Path) -> Outcome<PathBuf> {
    let binary = folder.join("icount-cpp");
    let library = match extent {
        Extent::All => native::release_library()?,
        Extent::Short => workspace::library()?,
    };
    native::build("bench/counted/icount.idl", &SOURCES, &library, folder, &binary)?;
    Ok(binary)
}

/// Returns the layer of an instruction by its function; `None` for an instruction in a library.
/// Stubs have known names. Instructions of libraries belong to the stub that calls the library.
pub(super) fn floor_of((object, function): &Name, binary: &str) -> Option<Floor> {
    if object != binary {
        return None;
    }
    let stubs = ["_proxy(", "_prepare(", "_elsewhere(", "_stub(", "_turn(", "_refill("];
    let is_stub = stubs.iter().any(|part| function.contains(part));
    let is_loop = function.starts_with("serve_connection");
    Some(if is_stub || is_loop { Floor::Generated } else { Floor::User })
}

#[cfg(test)]
mod tests {
    use super::{Floor, floor_of};

    #[test]
    fn cpp_stubs_and_the_server_loop_are_counted() {
        let of = |object: &str, function: &str| floor_of(&(object.to_owned(), function.to_owned()), "/x/icount-cpp");
        assert_eq!(of("/x/icount-cpp", "IStubs_null_proxy(IStubs*)'2"), Some(Floor::Generated));
        assert_eq!(of("/x/icount-cpp", "IStubs_null_stub(void*, obvia_call*)"), Some(Floor::Generated));
        assert_eq!(of("/x/icount-cpp", "serve_connection"), Some(Floor::Generated));
        assert_eq!(of("/x/icount-cpp", "(anonymous namespace)::Stubs::null()"), Some(Floor::User));
        assert_eq!(of("/x/icount-cpp", "main"), Some(Floor::User));
        assert_eq!(of("/y/libobvia.so", "obvia_reply_frame"), None);
        assert_eq!(of("/lib/libc.so.6", "memcpy"), None);
    }
}
