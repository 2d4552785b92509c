/** The interface of programs: export, binding and calls of objects of other processes. */
module obvia.api {
    exports obvia;
    exports obvia.spi;

    uses obvia.ObviaRuntime;
}
