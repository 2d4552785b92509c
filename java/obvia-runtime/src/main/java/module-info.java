/**
 * Calls through shared memory, without special options of the virtual machine, and the API for
 * generated proxies and stubs.
 */
module obvia.runtime {
    requires transitive obvia.api;
    requires jdk.net;

    exports obvia.runtime;

    uses obvia.runtime.Network;

    provides obvia.ObviaRuntime with
            obvia.runtime.ProcessRuntime;
}
