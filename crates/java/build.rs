//! Links the library with a flag that prevents its unloading, because its threads outlive the class
//! loader that has loaded it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
