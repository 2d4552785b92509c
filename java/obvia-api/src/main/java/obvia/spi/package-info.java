/** The parts of the API that runtimes implement and look up, and programs do not use. */
package obvia.spi;
