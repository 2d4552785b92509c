package obvia;

/** How a thread waits for a message. */
public enum Waiting {
    /** Looks again and again: the shortest latency, and a whole processor. */
    POLL,
    /** Sleeps at once: no processor time, and the latency of a wake-up. */
    BLOCK,
    /** Looks for a while, then sleeps. How long is learned from how long messages take. */
    ADAPTIVE
}
