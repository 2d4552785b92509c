/** Networks: what obvia's runtime in Rust does, called as foreign functions. The one module that needs native access. */
module obvia.network {
    requires obvia.runtime;

    provides obvia.runtime.Network with
            obvia.network.NativeNetwork;
}
