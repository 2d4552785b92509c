/**
 * Calls through shared memory, in pure Java.
 *
 * <p>From the bottom up: {@code Directory} (names), {@code Line} (the socket of a connection),
 * {@code Segments} (its memory), {@code Window} (messages), {@code Channel} and {@code Connection}
 * (the two sides of calls), {@code Link}, {@code Exports} and {@code ProcessRuntime} (objects). The
 * public classes are the API for the compiler's proxies and stubs:
 * {@link obvia.runtime.InterfaceInfo}, {@link obvia.runtime.Proxy}, {@link obvia.runtime.Channel}
 * and {@link obvia.runtime.InCall}.
 */
package obvia.runtime;
