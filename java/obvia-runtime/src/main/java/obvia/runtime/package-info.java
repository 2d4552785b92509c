/**
 * Calls through shared memory, in Java alone.
 *
 * <p>From below: {@code Directory} (names), {@code Line} (the socket beside a connection), {@code Segments} (its memory), {@code Window} (messages in it), {@code Channel}
 * and {@code Connection} (the two sides of calls), {@code Link}, {@code Exports} and {@code ProcessRuntime} (objects). Public is what the compiler's proxies and stubs
 * are written against: {@link obvia.runtime.InterfaceInfo}, {@link obvia.runtime.Proxy}, {@link obvia.runtime.Channel} and {@link obvia.runtime.InCall}.
 */
package obvia.runtime;
