/** The API of RMI for programs that migrate from it. */
module obvia.rmi {
    requires transitive java.rmi;
    requires transitive obvia.api;
    requires obvia.runtime;

    exports obvia.rmi;
}
