//! Compiles the shim between this crate and libfabric, for the feature `fabric` alone.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "fabric")]
    fabric();
}

/// Compiles the C shim. Most of libfabric's calls are inline functions of its headers, so Rust
/// cannot link to them.
#[cfg(feature = "fabric")]
fn fabric() {
    const SHIM: &str = "src/provider/fabric/shim.c";
    println!("cargo::rerun-if-changed={SHIM}");
    println!("cargo::rerun-if-env-changed=CFLAGS");
    let mut build = cc::Build::new();
    build.file(SHIM).std("c11").warnings(true).extra_warnings(true);
    if let Err(error) = build.try_compile("obvia_fabric") {
        eprintln!("{error}");
        panic!(
            "the feature `fabric` needs a C compiler and the headers of libfabric, 1.17 or later: \
             install Debian's gcc and libfabric-dev (Fedora: libfabric-devel), or build without the feature"
        );
    }
    // The shim loads libfabric by dlopen(3) when it is first used.
    println!("cargo::rustc-link-lib=dl");
}
