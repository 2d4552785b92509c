/** What performs {@link obvia.runtime.Network}, over libobvia_java. Programs use none of it by name. */
package obvia.network;
