/**
 * Networks: foreign-function calls of obvia's runtime in Rust. The only module that needs native
 * access.
 */
module obvia.network {
    requires obvia.runtime;

    provides obvia.runtime.Network with
            obvia.network.NativeNetwork;
}
