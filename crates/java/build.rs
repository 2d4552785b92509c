//! Has the library stay once it is loaded: its threads go on when a class loader that needed it is gone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
