/** What stands between the interface of programs and what performs it. */
package obvia.spi;
