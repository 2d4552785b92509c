package obvia;

/** The kind of threads that call an exported object's methods. */
public enum Threading {
    /** A platform thread for each connection: the lowest latency from a message to its method. */
    PLATFORM,
    /**
     * Virtual threads: thousands of methods may sleep, wait or call concurrently, and an idle
     * connection has no thread.
     */
    VIRTUAL
}
