package obvia;

/** How calls over a network are protected: {@code security=} of a string binding. Each level has what those before it have. */
public enum SecurityLevel {
    /** Not at all. */
    NONE,
    /** Who calls has proved who it is when it connected. */
    CONNECT,
    /** Calls and results are signed. */
    INTEGRITY,
    /** Arguments and results are encrypted. */
    PRIVACY
}
