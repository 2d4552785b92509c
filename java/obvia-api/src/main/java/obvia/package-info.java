/** Objects that are called across processes. {@link obvia.Obvia} is where to begin. */
package obvia;
