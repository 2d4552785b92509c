package peer;

import contexts.IContexts;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import obvia.CallTimeoutException;
import obvia.Endpoint;
import obvia.Obvia;
import obvia.Trace;

/**
 * Makes the checks of {@code contexts.rs} from a thread of each kind: calls a server, and makes
 * this server call another server, which has to notice cancelled calls.
 */
final class ContextClient {
    /**
     * The deadline that this client sets: more than twice the default timeout, and less than half
     * of {@link #PASSED}.
     */
    private static final Duration TIME = Duration.ofSeconds(100);
    /** The deadline that a server sets when it calls another server. */
    private static final Duration PASSED = Duration.ofHours(1);
    /**
     * The first timeout of a waiting call. On a busy machine, the call may not have begun by
     * then.
     */
    private static final Duration SHORT = Duration.ofMillis(500);
    private static final long PATIENCE_NANOS = 60_000_000_000L;
    /** The time limit of a thread's checks. */
    private static final Duration LATEST = Duration.ofSeconds(100);
    private static final Trace TRACE = new Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    private static final Trace LONGEST = new Trace(TRACE.traceparent(), "s".repeat(512));

    private ContextClient() {}

    /** The call context that a method saw. */
    private record Context(long left, String trace) {
        static Context first(IContexts object) {
            IContexts.ContextResult context = object.context();
            return new Context(context.left(), context.trace());
        }

        static Context passedOn(IContexts first, IContexts other) {
            IContexts.ContextOfResult context = first.contextOf(other);
            return new Context(context.left(), context.trace());
        }
    }

    public static void main(String[] arguments) throws Exception {
        IContexts first = find(arguments[0]);
        IContexts last = find(arguments[1]);
        for (Thread.Builder thread : new Thread.Builder[] {Thread.ofPlatform(), Thread.ofVirtual()}) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            Thread checking = thread.start(() -> {
                try {
                    checkAll(first, last);
                    done.complete(null);
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            });
            if (!checking.join(LATEST)) {
                throw new AssertionError(checking + " hangs in " + Arrays.toString(checking.getStackTrace()));
            }
            done.get();
        }
        System.out.println("good");
        System.exit(0);
    }

    /** Connects to an object by a string binding with a name, or by a name. */
    private static IContexts find(String where) {
        int name = where.indexOf(",name=");
        Endpoint there = Obvia.connect(name < 0 ? "" : where.substring(0, name) + "]");
        return there.bind(IContexts.class, name < 0 ? where : where.substring(name + 6, where.length() - 1));
    }

    private static void checkAll(IContexts first, IContexts last) throws InterruptedException {
        check(null, () -> Context.first(first));
        check(PASSED, () -> Context.passedOn(first, last));
        check(PASSED, () -> Context.passedOn(last, first));
        int before = last.cancelled();
        long until = System.nanoTime() + PATIENCE_NANOS;
        for (Duration time = SHORT; last.cancelled() == before; time = time.multipliedBy(2)) {
            if (System.nanoTime() > until) {
                throw new AssertionError("the cancelled call was not noticed");
            }
            giveUp(first, last, time);
            long moment = System.nanoTime() + 2 * time.toNanos();
            while (last.cancelled() == before && System.nanoTime() < moment) {
                Thread.sleep(10);
            }
        }
    }

    private static void giveUp(IContexts first, IContexts last, Duration time) {
        try {
            Obvia.within(time, () -> first.awaitCancel(last));
            throw new AssertionError("the call did not time out");
        } catch (CallTimeoutException e) {
            // The timeout is expected.
        }
    }

    /**
     * Compares a reported call context with the deadline and with the trace. Without a deadline,
     * {@code expected} is {@code null}. A default timeout is not transmitted, so the callee reports
     * no deadline for it.
     */
    private static void check(Duration expected, Trace trace, Context context) {
        boolean isRight = expected == null ? context.left == -1 : context.left >= expected.toMillis() / 2 && context.left <= expected.toMillis();
        String expectedTrace = trace == null ? "" : trace.traceparent() + " " + trace.tracestate();
        if (!isRight || !context.trace.equals(expectedTrace)) {
            throw new AssertionError(context + " where the time is " + expected + ", and the trace " + expectedTrace);
        }
    }

    /** @param otherwise the deadline that the callee reports if this client sets none */
    private static void check(Duration otherwise, Supplier<Context> call) {
        for (int turn = 0; turn < 3; turn++) {
            check(otherwise, null, call.get());
            check(TIME, null, Obvia.within(TIME, call::get));
            check(TIME, TRACE, Obvia.within(TIME, () -> Obvia.withTrace(TRACE, call::get)));
            check(TIME, LONGEST, Obvia.withTrace(LONGEST, () -> Obvia.within(TIME, call::get)));
            check(otherwise, null, call.get());
        }
    }
}
