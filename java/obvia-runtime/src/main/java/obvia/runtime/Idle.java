package obvia.runtime;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** How long connections may be idle, in milliseconds, and how many of them are. */
final class Idle {
    /** After this the thread of a client's connection ends, and the poller looks at it. */
    static volatile long warm = limit("obvia.idle.warm", 5_000);

    /** After this an own connection ends whose frames have taken memory. */
    static volatile long cold = limit("obvia.idle.cold", 60_000);

    /** After this any own connection ends that was for calls. */
    static volatile long close = limit("obvia.idle.close", 600_000);

    static final AtomicInteger HOT = new AtomicInteger();
    static final AtomicInteger VIRTUAL = new AtomicInteger();
    static final AtomicInteger WARM = new AtomicInteger();
    static final AtomicLong COOLED = new AtomicLong();
    static final AtomicLong CLOSED = new AtomicLong();

    private Idle() {}

    private static long limit(String property, long usual) {
        return Math.clamp(Long.getLong(property, usual), 1, Integer.MAX_VALUE);
    }

    /** How often to look who is. */
    static long period() {
        return Math.clamp(Math.min(cold, close) / 4, 10, 1_000);
    }
}
