/**
 * The implementation of {@link obvia.runtime.Network} over libobvia_java. Programs do not use this
 * package directly.
 */
package obvia.network;
