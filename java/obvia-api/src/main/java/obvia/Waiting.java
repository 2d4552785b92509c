package obvia;

/** The way in which a thread waits for a message. */
public enum Waiting {
    /** Polls: the lowest latency, at the cost of a whole processor. */
    POLL,
    /** Sleeps at once: no processor time, at the cost of the wake-up latency. */
    BLOCK,
    /**
     * Polls for a while, then sleeps. The polling time adapts to the observed latency of messages.
     */
    ADAPTIVE
}
