package peer;

import hearing.IHearer;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;

/**
 * Exports an object that returns the context of its calls, like the one in Rust, until the
 * standard input ends.
 */
final class Hearer implements IHearer {
    private static final Duration HOUR = Duration.ofHours(1);

    /** The time after which a lingering call fails because its cancellation was not noticed. */
    private static final long LINGERS_NANOS = 60_000_000_000L;

    private final AtomicInteger lingered = new AtomicInteger();

    private Hearer() {}

    public static void main(String[] arguments) throws Exception {
        try (var _ = Obvia.export(new Hearer(), IHearer.class, arguments[0])) {
            System.out.println(arguments.length > 1 ? "ready " + Obvia.listen(arguments[1]) : "ready");
            System.in.readAllBytes();
        }
        System.exit(0);
    }

    @Override
    public HearResult hear() {
        long left = Obvia.callerDeadline().map(end -> Math.max(0, Duration.between(Instant.now(), end).toMillis())).orElse(-1L);
        return new HearResult(left, Obvia.trace().map(trace -> trace.traceparent() + " " + trace.tracestate()).orElse(""));
    }

    @Override
    public PassResult pass(IHearer other) {
        HearResult heard = Obvia.within(HOUR, other::hear);
        return new PassResult(heard.left(), heard.trace());
    }

    @Override
    public void linger(IHearer other) {
        if (other != null) {
            Obvia.within(HOUR, () -> other.linger(null));
            return;
        }
        long until = System.nanoTime() + LINGERS_NANOS;
        while (!Obvia.isCancelled()) {
            if (System.nanoTime() > until) {
                throw new RpcException(Hresult.E_FAIL);
            }
            LockSupport.parkNanos(1_000_000);
        }
        lingered.incrementAndGet();
    }

    @Override
    public int lingered() {
        return lingered.get();
    }
}
