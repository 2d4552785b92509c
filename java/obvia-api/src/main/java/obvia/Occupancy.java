package obvia;

import java.util.concurrent.atomic.LongAdder;

/** How much memory structures take that were received: of this process, since it began. */
public final class Occupancy {
    /** Whether it is noted where arguments are retained: {@code -Dobvia.leaks=trace}. */
    static final boolean TRACE = "trace".equals(System.getProperty("obvia.leaks"));

    private static final LongAdder RECEIVED = new LongAdder();
    private static final LongAdder HELD = new LongAdder();
    private static final LongAdder RETAINED = new LongAdder();
    private static final LongAdder LEAKS = new LongAdder();

    private Occupancy() {}

    /**
     * Bytes of all frames with structures that have been received.
     *
     * @return how many
     */
    public static long received() {
        return RECEIVED.sum();
    }

    /**
     * Bytes that are kept for what is retained.
     *
     * @return how many
     */
    public static long held() {
        return HELD.sum();
    }

    /**
     * How many arguments are retained.
     *
     * @return the number
     */
    public static long retained() {
        return RETAINED.sum();
    }

    /**
     * How many were retained and dropped without being closed.
     *
     * @return the number
     */
    public static long leaks() {
        return LEAKS.sum();
    }

    /**
     * A frame has been received. For runtimes.
     *
     * @param bytes its bytes
     */
    public static void receive(int bytes) {
        RECEIVED.add(bytes);
    }

    static void add(int bytes) {
        HELD.add(bytes);
        RETAINED.increment();
    }

    static void remove(int bytes, boolean isLeak) {
        HELD.add(-bytes);
        RETAINED.decrement();
        if (isLeak) {
            LEAKS.increment();
        }
    }
}
