/** Calls through shared memory, without an option of the virtual machine's, and what generated proxies and stubs are written against. */
module obvia.runtime {
    requires transitive obvia.api;
    requires jdk.net;

    exports obvia.runtime;

    uses obvia.runtime.Network;

    provides obvia.spi.Runtime with
            obvia.runtime.ProcessRuntime;
}
