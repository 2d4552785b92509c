//! Links the library with its SONAME, and with a flag that prevents its unloading.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The SONAME ends in OBVIA_ABI_MAJOR of obvia.h.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libobvia.so.0");
    // If a library that depends on libobvia is unloaded, libobvia's threads continue to run. So
    // libobvia itself must stay loaded.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
