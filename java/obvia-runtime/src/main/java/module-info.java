/**
 * Calls through shared memory, without special options of the virtual machine, and the API for
 * generated proxies and stubs. Packages that the module does not export are not for programs, on the
 * class path either.
 */
// The module of networks is compiled later.
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
