package obvia.runtime.objects;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import obvia.Export;
import obvia.Obvia;
import obvia.Threading;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;

/**
 * Calculators of the old and the new version, and the numbers by which tests ask them for
 * properties.
 */
final class Calcs {
    static final int VERSION = 0;
    static final int IS_VIRTUAL = 1;
    static final int HOT = 2;
    static final int WARM = 3;
    static final int HELD = 4;
    /** Replaces the called object by a new object, and returns the version of the old object. */
    static final int REPLACE = 5;
    static final int PLATFORM_THREADS = 6;
    /** Sleeps for a while. */
    static final int NAP = 7;
    /** The remaining milliseconds of the caller's deadline, or -1 if the caller sent none. */
    static final int TIME_LEFT = 8;
    /** The hash of the trace's text, or 0 if there is none. */
    static final int TRACE = 9;
    /**
     * The remaining milliseconds within work that has a deadline of one hour. The caller's deadline
     * also limits this time.
     */
    static final int HOUR_LEFT = 10;
    /** Stores the context of the call for later questions. */
    static final int KEEP = 11;
    static final int KEPT_TIME_LEFT = 12;
    static final int KEPT_TRACE = 13;
    /** Waits until the caller has given up, and counts such calls. */
    static final int LINGER = 14;
    static final int LINGERED = 15;

    private static Export export;

    private Calcs() {}

    /**
     * Exports a calculator: {@code old}, {@code new} or {@code virtual}. {@code both} exports an
     * old calculator and a virtual calculator.
     */
    static void main(String name, String which) {
        export = switch (which) {
            case "new" -> Obvia.export(new New(), ICalc2.class, name);
            case "virtual" -> Obvia.export(new Old(), ICalc.class, name, Threading.VIRTUAL);
            default -> Obvia.export(new Old(), ICalc.class, name);
        };
        if (which.equals("both")) {
            Obvia.export(new Old(), ICalc.class, name + "-virtual", Threading.VIRTUAL);
        }
    }

    private static ProcessRuntime runtime() {
        return (ProcessRuntime) obvia.ObviaRuntime.instance();
    }

    private static long timeLeft() {
        return Obvia.callerDeadline().map(end -> Duration.between(Instant.now(), end).toMillis()).orElse(-1L);
    }

    private static long trace() {
        return Obvia.trace().map(trace -> (long) trace.toString().hashCode()).orElse(0L);
    }

    /** A calculator of the old version. */
    static class Old implements ICalc {
        private volatile long keptTimeLeft;
        private volatile long keptTrace;
        private final AtomicInteger lingered = new AtomicInteger();

        private long linger() {
            Deadline deadline = Deadline.in(Duration.ofSeconds(60));
            while (!Obvia.isCancelled()) {
                deadline.check();
                LockSupport.parkNanos(1_000_000);
            }
            return lingered.incrementAndGet();
        }

        @Override
        public int add(int a, int b) {
            return a + b;
        }

        int version() {
            return 1;
        }

        @Override
        public long about(int what) {
            return switch (what) {
                case VERSION -> version();
                case IS_VIRTUAL -> Thread.currentThread().isVirtual() ? 1 : 0;
                case HOT -> Obvia.connections().hot();
                case WARM -> Obvia.connections().warm();
                case HELD -> runtime().exports().count();
                case REPLACE -> {
                    export.replace(new New(), ICalc2.class);
                    yield version();
                }
                case PLATFORM_THREADS -> Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals("obvia-serve")).count();
                case NAP -> {
                    LockSupport.parkNanos(20_000_000);
                    yield 0;
                }
                case TIME_LEFT -> timeLeft();
                case TRACE -> trace();
                case HOUR_LEFT -> Obvia.within(Duration.ofHours(1), () -> CallContext.currentDeadline().left() / 1_000_000);
                case KEEP -> {
                    keptTimeLeft = timeLeft();
                    keptTrace = trace();
                    yield 0;
                }
                case KEPT_TIME_LEFT -> keptTimeLeft;
                case KEPT_TRACE -> keptTrace;
                case LINGER -> linger();
                case LINGERED -> lingered.get();
                default -> throw new IllegalArgumentException("about " + what);
            };
        }

        @Override
        public long visit(ICalc other, int what) {
            return other.about(what);
        }

        @Override
        public ICalc self() {
            return this;
        }
    }

    /** A calculator of the new version. */
    static final class New extends Old implements ICalc2 {
        @Override
        int version() {
            return 2;
        }

        @Override
        public int multiply(int a, int b) {
            return a * b;
        }
    }
}
