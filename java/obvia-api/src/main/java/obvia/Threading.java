package obvia;

/** Which threads call an exported object's methods. */
public enum Threading {
    /** A platform thread for each connection: the shortest way from a message to its method. */
    PLATFORM,
    /** Virtual threads: thousands of methods may sleep, wait or call others at once, and a connection without a call has no thread of its own. */
    VIRTUAL
}
