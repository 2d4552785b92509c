//! Names the library as the loader is to look for it, and has it stay.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The library's name, which programs ask the loader for, ends in OBVIA_ABI_MAJOR of obvia.h.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libobvia.so.0");
    // The library's threads go on when a library that needed it is unloaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
