package obvia;

import static java.util.Objects.requireNonNull;

/**
 * The trace that calls belong to, as W3C Trace Context has it: what a tracing system puts in the headers of HTTP.
 *
 * @param traceparent the trace, the part of it that calls come from, and flags: {@code 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01}
 * @param tracestate what tracing systems add; empty where they add nothing
 */
public record Trace(String traceparent, String tracestate) {
    /** The longest state that is passed on, in characters: what W3C asks for at the least. */
    private static final int STATE_MAX = 512;

    private static final int TRACE = 3;
    private static final int PARENT = 36;
    private static final int FLAGS = 53;
    private static final int LENGTH = 55;

    /**
     * Of two headers. A state that is none, or is longer than 512 characters, is left out, as Trace Context has it.
     *
     * @param traceparent the header of this name, of version 00
     * @param tracestate the header of this name; may be {@code null}
     * @throws IllegalArgumentException where the first is none
     */
    public Trace {
        if (!isTraceparent(requireNonNull(traceparent, "traceparent"))) {
            throw new IllegalArgumentException("it is no traceparent of version 00: " + traceparent);
        }
        if (tracestate == null || tracestate.length() > STATE_MAX || !tracestate.chars().allMatch(c -> c >= ' ' && c <= '~')) {
            tracestate = "";
        }
    }

    /**
     * The same without state.
     *
     * @param traceparent the header of this name, of version 00
     * @throws IllegalArgumentException where it is none
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

    /** Whether they are digits of a number that is not 0. */
    private static boolean isNumber(String text, int begin, int end) {
        return isHexadecimal(text, begin, end) && text.substring(begin, end).chars().anyMatch(c -> c != '0');
    }

    private static boolean isHexadecimal(String text, int begin, int end) {
        return text.substring(begin, end).chars().allMatch(c -> c >= '0' && c <= '9' || c >= 'a' && c <= 'f');
    }

    /**
     * The number of the trace.
     *
     * @return 32 digits
     */
    public String traceId() {
        return traceparent.substring(TRACE, PARENT - 1);
    }

    /**
     * The number of the part of it that calls come from.
     *
     * @return 16 digits
     */
    public String parentId() {
        return traceparent.substring(PARENT, FLAGS - 1);
    }

    /**
     * Whether the trace is recorded.
     *
     * @return the first of the flags
     */
    public boolean isSampled() {
        return (Character.digit(traceparent.charAt(LENGTH - 1), 16) & 1) != 0;
    }
}
