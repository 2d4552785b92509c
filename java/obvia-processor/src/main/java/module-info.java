/**
 * Generates proxies and stubs for remote interfaces that are written in Java. Compilers find the
 * processor on their processor path.
 */
module obvia.processor {
    requires java.compiler;

    provides javax.annotation.processing.Processor with
            obvia.processor.InterfaceProcessor;
}
