/**
 * The objects of this process and its connections to others.
 *
 * <p>The caller's side: {@code Link} (the connections to another process), {@code WindowChannel}.
 * The object's side: {@code Exports} (interface pointers), {@code Connection}, {@code WindowCall}.
 * {@code Bind} and {@code RuntimeCalls} are the protocol between runtimes, {@code ProcessRuntime}
 * is the process as a whole.
 */
package obvia.runtime.objects;
