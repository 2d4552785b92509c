package obvia;

import java.util.concurrent.atomic.LongAdder;

/** Counters of the memory for the structures that this process has received since its start. */
public final class Occupancy {
    /** Whether stack traces of retained arguments are recorded: {@code -Dobvia.leaks=trace}. */
    static final boolean TRACE = "trace".equals(System.getProperty("obvia.leaks"));

    private static final LongAdder RECEIVED = new LongAdder();
    private static final LongAdder HELD = new LongAdder();
    private static final LongAdder RETAINED = new LongAdder();
    private static final LongAdder LEAKS = new LongAdder();

    private Occupancy() {}

    /**
     * Returns the total size of all received frames with structures.
     *
     * @return the number of bytes
     */
    public static long received() {
        return RECEIVED.sum();
    }

    /**
     * Returns the size of the memory that retained arguments hold.
     *
     * @return the number of bytes
     */
    public static long held() {
        return HELD.sum();
    }

    /**
     * Returns the number of arguments that are retained.
     *
     * @return the number
     */
    public static long retained() {
        return RETAINED.sum();
    }

    /**
     * Returns the number of retained arguments that became unreachable without being closed.
     *
     * @return the number
     */
    public static long leaks() {
        return LEAKS.sum();
    }

    /**
     * Counts a received frame. Only runtimes call this method.
     *
     * @param bytes the size of the frame
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
