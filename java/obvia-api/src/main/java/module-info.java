/** Objects that are called across processes: what programs use. */
module obvia.api {
    exports obvia;
    exports obvia.spi;

    uses obvia.spi.Runtime;
}
