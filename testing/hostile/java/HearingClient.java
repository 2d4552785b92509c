package peer;

import hearing.IHearer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import obvia.CallTimeoutException;
import obvia.Endpoint;
import obvia.Obvia;
import obvia.Trace;

/**
 * Calls a server from a thread of each kind, and makes it call another server, which has to notice
 * cancelled calls: the same as {@code hearing.rs}.
 */
final class HearingClient {
    /**
     * The deadline that this client sets: more than twice the default timeout, and less than half
     * of {@link #PASSED}.
     */
    private static final Duration TIME = Duration.ofSeconds(100);
    /** The deadline that a server sets when it calls another one. */
    private static final Duration PASSED = Duration.ofHours(1);
    /**
     * The first timeout of a lingering call. On a busy machine, the call may not have begun by
     * then.
     */
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    private static final Trace TRACE = new Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    private static final Trace LONGEST = new Trace(TRACE.traceparent(), "s".repeat(512));

    private HearingClient() {}

    /** The call context that a method saw. */
    private record Heard(long left, String trace) {
        static Heard by(IHearer hearer) {
            IHearer.HearResult heard = hearer.hear();
            return new Heard(heard.left(), heard.trace());
        }

        static Heard through(IHearer by, IHearer other) {
            IHearer.PassResult heard = by.pass(other);
            return new Heard(heard.left(), heard.trace());
        }
    }

    public static void main(String[] arguments) throws Exception {
        IHearer by = find(arguments[0]);
        IHearer last = find(arguments[1]);
        for (Thread.Builder thread : new Thread.Builder[] {Thread.ofPlatform(), Thread.ofVirtual()}) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            thread.start(() -> {
                try {
                    checkAll(by, last);
                    done.complete(null);
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            });
            done.get();
        }
        System.out.println("good");
        System.exit(0);
    }

    /** Connects to an object by a string binding with a name, or by a name. */
    private static IHearer find(String where) {
        int name = where.indexOf(",name=");
        Endpoint there = Obvia.connect(name < 0 ? "" : where.substring(0, name) + "]");
        return there.bind(IHearer.class, name < 0 ? where : where.substring(name + 6, where.length() - 1));
    }

    private static void checkAll(IHearer by, IHearer last) throws InterruptedException {
        check(null, () -> Heard.by(by));
        check(PASSED, () -> Heard.through(by, last));
        check(PASSED, () -> Heard.through(last, by));
        int before = last.lingered();
        long until = System.nanoTime() + PATIENCE_NANOS;
        for (Duration time = SHORT; last.lingered() == before; time = time.multipliedBy(2)) {
            if (System.nanoTime() > until) {
                throw new AssertionError("it does not hear that nobody waits");
            }
            giveUp(by, last, time);
            long moment = System.nanoTime() + 2 * time.toNanos();
            while (last.lingered() == before && System.nanoTime() < moment) {
                Thread.sleep(10);
            }
        }
    }

    private static void giveUp(IHearer by, IHearer last, Duration time) {
        try {
            Obvia.within(time, () -> by.linger(last));
            throw new AssertionError("nobody lingers");
        } catch (CallTimeoutException e) {
            // The timeout is expected.
        }
    }

    /**
     * Compares a reported call context with the deadline, which is {@code null} if there is none,
     * and with the trace. A default timeout is not transmitted, so the callee reports no deadline
     * for it.
     */
    private static void check(Duration said, Trace trace, Heard heard) {
        boolean isSo = said == null ? heard.left == -1 : heard.left >= said.toMillis() / 2 && heard.left <= said.toMillis();
        String meant = trace == null ? "" : trace.traceparent() + " " + trace.tracestate();
        if (!isSo || !heard.trace.equals(meant)) {
            throw new AssertionError(heard + " where the time is " + said + ", and the trace " + meant);
        }
    }

    /** @param otherwise the deadline that the callee reports if this client sets none */
    private static void check(Duration otherwise, Supplier<Heard> call) {
        for (int turn = 0; turn < 3; turn++) {
            check(otherwise, null, call.get());
            check(TIME, null, Obvia.within(TIME, call::get));
            check(TIME, TRACE, Obvia.within(TIME, () -> Obvia.withTrace(TRACE, call::get)));
            check(TIME, LONGEST, Obvia.withTrace(LONGEST, () -> Obvia.within(TIME, call::get)));
            check(otherwise, null, call.get());
        }
    }
}
