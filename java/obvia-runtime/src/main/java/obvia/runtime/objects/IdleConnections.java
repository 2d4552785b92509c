package obvia.runtime.objects;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The idle times of connections in milliseconds, and the numbers of connections by state. */
final class IdleConnections {
    /**
     * The idle time after which the thread of an accepted connection ends and the poller watches
     * the connection.
     */
    static volatile long warm = limit("obvia.idle.warm", 5_000);

    /**
     * The idle time after which a connection that this process opened is closed if its frames have
     * taken memory.
     */
    static volatile long cold = limit("obvia.idle.cold", 60_000);

    /** The idle time after which any connection that this process opened for calls is closed. */
    static volatile long close = limit("obvia.idle.close", 600_000);

    static final AtomicInteger HOT = new AtomicInteger();
    static final AtomicInteger VIRTUAL = new AtomicInteger();
    static final AtomicInteger WARM = new AtomicInteger();
    static final AtomicLong COOLED = new AtomicLong();
    static final AtomicLong CLOSED = new AtomicLong();

    private IdleConnections() {}

    private static long limit(String property, long usual) {
        return Math.clamp(Long.getLong(property, usual), 1, Integer.MAX_VALUE);
    }

    /** Returns the interval between checks for idle connections, in milliseconds. */
    static long period() {
        return Math.clamp(Math.min(cold, close) / 4, 10, 1_000);
    }
}
