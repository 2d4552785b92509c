/** The service interface between {@link obvia.Obvia} and the runtime. */
package obvia.spi;
