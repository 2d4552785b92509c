/**
 * Communication over networks. This module calls obvia's runtime in Rust by foreign functions, and
 * is the only module that needs native access.
 */
module obvia.network {
    requires obvia.runtime;

    provides obvia.runtime.Network with
            obvia.network.NativeNetwork;
}
