package obvia;

import static java.util.Objects.requireNonNull;

/**
 * The trace to which calls belong, by W3C Trace Context: the content of the HTTP headers of a
 * tracing system.
 *
 * @param traceparent the trace ID, the parent ID and the flags:
 *     {@code 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01}
 * @param tracestate the state of tracing systems; may be empty
 */
public record Trace(String traceparent, String tracestate) {
    /**
     * The maximum length in characters of a state that is propagated. W3C requires at least this
     * length.
     */
    private static final int STATE_MAX = 512;

    private static final int TRACE = 3;
    private static final int PARENT = 36;
    private static final int FLAGS = 53;
    private static final int LENGTH = 55;

    /**
     * Creates a trace from two headers. A state that is invalid or longer than 512 characters is
     * dropped, as Trace Context specifies.
     *
     * @param traceparent the header {@code traceparent} of version 00
     * @param tracestate the header {@code tracestate}; may be {@code null}
     * @throws IllegalArgumentException if {@code traceparent} is invalid
     */
    public Trace {
        if (!isTraceparent(requireNonNull(traceparent, "traceparent"))) {
            throw new IllegalArgumentException("the text is not a traceparent of version 00: " + traceparent);
        }
        if (tracestate == null || tracestate.length() > STATE_MAX || !tracestate.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            tracestate = "";
        }
    }

    /**
     * Creates a trace without state.
     *
     * @param traceparent the header {@code traceparent} of version 00
     * @throws IllegalArgumentException if {@code traceparent} is invalid
     */
    public Trace(String traceparent) {
        this(traceparent, null);
    }

    private static boolean isTraceparent(String text) {
        return text.length() == LENGTH
                && text.startsWith("00-")
                && text.charAt(PARENT - 1) == '-'
                && text.charAt(FLAGS - 1) == '-'
                && isNumber(text, TRACE, PARENT - 1)
                && isNumber(text, PARENT, FLAGS - 1)
                && isHexadecimal(text, FLAGS, LENGTH);
    }

    /** Whether the range consists of hexadecimal digits that are not all 0. */
    private static boolean isNumber(String text, int begin, int end) {
        return isHexadecimal(text, begin, end) && text.substring(begin, end).chars().anyMatch(c -> c != '0');
    }

    private static boolean isHexadecimal(String text, int begin, int end) {
        return text.substring(begin, end).chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
    }

    /**
     * Returns the trace ID.
     *
     * @return 32 hexadecimal digits
     */
    public String traceId() {
        return traceparent.substring(TRACE, PARENT - 1);
    }

    /**
     * Returns the parent ID.
     *
     * @return 16 hexadecimal digits
     */
    public String parentId() {
        return traceparent.substring(PARENT, FLAGS - 1);
    }

    /**
     * Whether the trace is sampled.
     *
     * @return the lowest bit of the flags
     */
    public boolean isSampled() {
        return (Character.digit(traceparent.charAt(LENGTH - 1), 16) & 1) != 0;
    }
}
