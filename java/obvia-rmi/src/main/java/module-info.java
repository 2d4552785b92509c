/** Names of RMI for programs that come over from it. */
module obvia.rmi {
    requires transitive java.rmi;
    requires transitive obvia.api;
    requires obvia.runtime;

    exports obvia.rmi;
}
