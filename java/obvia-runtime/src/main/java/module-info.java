/**
 * Calls through shared memory, without special options of the virtual machine, and the API for
 * generated proxies and stubs. Programs must not use packages that the module does not export, not
 * even from the class path.
 */
// The module obvia.network, to which a package is exported, is compiled later.
@SuppressWarnings("module")
module obvia.runtime {
    requires transitive obvia.api;
    requires jdk.net;

    exports obvia.runtime;
    exports obvia.runtime.call to obvia.network;

    uses obvia.runtime.Network;

    provides obvia.ObviaRuntime with
            obvia.runtime.objects.ProcessRuntime;
}
