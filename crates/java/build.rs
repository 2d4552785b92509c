//! Links the library such that it is never unloaded: its threads outlive the class loader that has
//! loaded it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
