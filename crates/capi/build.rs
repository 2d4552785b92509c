//! Links the library with the name by which the loader looks for it, and with a flag that prevents
//! its unloading.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The name that programs ask the loader for (SONAME) ends in OBVIA_ABI_MAJOR of obvia.h.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libobvia.so.0");
    // The library's threads outlive other libraries that depend on it, so the unloading of such a
    // library must not unload this one.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
