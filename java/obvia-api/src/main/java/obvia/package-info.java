/** Calls of objects across processes. {@link obvia.Obvia} is the entry point. */
package obvia;
