package obvia;

/**
 * The protection of calls over a network: {@code security=} of a string binding. Each level
 * includes the previous levels.
 */
public enum SecurityLevel {
    /** No protection. */
    NONE,
    /** The caller authenticates itself when it connects. */
    CONNECT,
    /** Calls and results are signed. */
    INTEGRITY,
    /** Arguments and results are encrypted. */
    PRIVACY
}
