package peer;

import contexts.IContexts;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;

/**
 * Exports an object that returns the context of its calls, until the standard input ends. The
 * object behaves like the one in Rust.
 */
final class ContextServer implements IContexts {
    private static final Duration HOUR = Duration.ofHours(1);

    /** The time after which a waiting call fails because its cancellation was not noticed. */
    private static final long WAIT_NANOS_MAX = 60_000_000_000L;

    private final AtomicInteger cancelled = new AtomicInteger();

    private ContextServer() {}

    public static void main(String[] arguments) throws Exception {
        try (var _ = Obvia.export(new ContextServer(), IContexts.class, arguments[0])) {
            System.out.println(arguments.length > 1 ? "ready " + Obvia.listen(arguments[1]) : "ready");
            System.in.readAllBytes();
        }
        System.exit(0);
    }

    @Override
    public ContextResult context() {
        long left = Obvia.callerDeadline().map(end -> Math.max(0, Duration.between(Instant.now(), end).toMillis())).orElse(-1L);
        return new ContextResult(left, Obvia.trace().map(trace -> trace.traceparent() + " " + trace.tracestate()).orElse(""));
    }

    @Override
    public ContextOfResult contextOf(IContexts other) {
        ContextResult context = Obvia.within(HOUR, other::context);
        return new ContextOfResult(context.left(), context.trace());
    }

    @Override
    public void awaitCancel(IContexts other) {
        if (other != null) {
            Obvia.within(HOUR, () -> other.awaitCancel(null));
            return;
        }
        long until = System.nanoTime() + WAIT_NANOS_MAX;
        while (!Obvia.isCancelled()) {
            if (System.nanoTime() > until) {
                throw new RpcException(Hresult.E_FAIL);
            }
            LockSupport.parkNanos(1_000_000);
        }
        cancelled.incrementAndGet();
    }

    @Override
    public int cancelled() {
        return cancelled.get();
    }
}
