/**
 * Connections through shared memory, in pure Java.
 *
 * <p>From the bottom up: {@code Directory} (names), {@code ConnectionSocket} (the socket of a
 * connection), {@code Segments} (its memory), {@code Window} (messages). {@code Regions} is the
 * memory that calls pass by reference. {@code PeerFile} opens the files of peers. {@code Poller}
 * waits on behalf of virtual threads, and of connections without a thread.
 */
package obvia.runtime.shm;
