//! Links the library with a flag that prevents its unloading. The library's threads continue to run
//! when the class loader that has loaded the library is unloaded.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
