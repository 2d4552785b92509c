package obvia.runtime.call;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import obvia.Trace;

/**
 * The context of calls: their deadlines, and the trace to which they belong. docs/flat.md specifies
 * the bytes; {@code crates/com/src/protocol/call_context.rs} encodes and decodes them in Rust.
 *
 * <p>The context is a scoped value, so that tasks inherit the context of the work that forks and
 * joins them. A thread without a context makes calls that send no context.
 */
public final class CallContext {
    /** The maximum length of a context, in bytes. */
    public static final int LENGTH_MAX = 552;

    /** The context of calls that send no context. */
    public static final CallContext NONE = new CallContext(null, null, null);

    /** The default time limit of calls. */
    private static final Duration USUAL = Duration.ofSeconds(30);

    private static final long NO_TIME = -1;
    private static final int PARENT = 24;
    private static final int FLAGS = 32;
    private static final int STATE_LENGTH = 34;
    private static final int RESERVED = 36;
    private static final int STATE = 40;

    private static final ScopedValue<CallContext> OF_WORK = ScopedValue.newInstance();

    // The references are weak. Otherwise an idle thread would keep its channels in memory, and the
    // objects to which the channels refer.
    private static final ThreadLocal<Set<Cached>> CACHED = ThreadLocal.withInitial(() -> Collections.newSetFromMap(new WeakHashMap<>()));

    /** The deadline of calls; {@code null} for the default. */
    private final Deadline deadline;
    /**
     * The deadline of the caller of the method that the thread performs; {@code null} if the caller
     * sent none.
     */
    private final Deadline callers;
    private final Trace trace;

    /**
     * A channel that its thread may use without a look-up, as long as the thread's calls have no
     * context.
     */
    public interface Cached {
        /** Makes the thread look the channel up for its next call. */
        void invalidate();
    }

    private static CallContext with(Deadline deadline, Deadline callers, Trace trace) {
        return deadline == null && callers == null && trace == null ? NONE : new CallContext(deadline, callers, trace);
    }

    private CallContext(Deadline deadline, Deadline callers, Trace trace) {
        this.deadline = deadline;
        this.callers = callers;
        this.trace = trace;
    }

    /** Returns the context of the calls that this thread makes now. */
    public static CallContext current() {
        return OF_WORK.isBound() ? OF_WORK.get() : NONE;
    }

    /** Returns the deadline of a call that begins on this thread now. */
    public static Deadline currentDeadline() {
        Deadline ofWork = current().deadline;
        return ofWork != null ? ofWork : Deadline.in(USUAL);
    }

    /** Performs work that waits several times. All waits share the deadline of one call. */
    public static <R, E extends Throwable> R byOneDeadline(ScopedValue.CallableOp<? extends R, E> work) throws E {
        return current().by(currentDeadline()).during(work);
    }

    /** See {@link obvia.Obvia#callerDeadline}. */
    public Optional<Instant> callerDeadline() {
        return Optional.ofNullable(callers).map(end -> Instant.now().plusNanos(end.at() - System.nanoTime()));
    }

    /** Returns the trace of calls. */
    public Optional<Trace> trace() {
        return Optional.ofNullable(trace);
    }

    /** Returns this context with another deadline, unless the present deadline is earlier. */
    public CallContext by(Deadline other) {
        return with(deadline != null && deadline.at() - other.at() <= 0 ? deadline : other, callers, trace);
    }

    /** Returns this context with another trace. */
    public CallContext of(Trace other) {
        return with(deadline, callers, other);
    }

    /** Returns this context without deadlines, for a method whose caller does not wait. */
    public CallContext withoutTime() {
        return with(null, null, trace);
    }

    /** Performs work whose calls have this context. */
    public <R, E extends Throwable> R during(ScopedValue.CallableOp<? extends R, E> work) throws E {
        invalidateCached();
        try {
            return ScopedValue.where(OF_WORK, this).call(work);
        } finally {
            // Work without a context may run within work that has a context. The outer work must
            // not use the channels that the inner work has looked up, because the outer work has to
            // send its context first.
            invalidateCached();
        }
    }

    /** Adds a channel to be invalidated when the context of this thread's calls changes. */
    public static void addCached(Cached cached) {
        CACHED.get().add(cached);
    }

    private static void invalidateCached() {
        if (!Thread.currentThread().isVirtual()) {
            Set<Cached> all = CACHED.get();
            all.forEach(Cached::invalidate);
            all.clear();
        }
    }

    /** Encodes the context with the time that remains now. */
    public byte[] toBytes() {
        byte[] state = trace == null ? new byte[0] : trace.tracestate().getBytes(StandardCharsets.US_ASCII);
        int length = trace == null ? Long.BYTES : STATE + state.length + 7 & -8;
        ByteBuffer bytes = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putLong(deadline == null ? NO_TIME : TimeUnit.NANOSECONDS.toMicros(deadline.left()));
        if (trace != null) {
            HexFormat digits = HexFormat.of();
            bytes.put(digits.parseHex(trace.traceId())).put(digits.parseHex(trace.parentId()));
            bytes.put((byte) HexFormat.fromHexDigits(trace.traceparent(), trace.traceparent().length() - 2, trace.traceparent().length()));
            bytes.putShort(STATE_LENGTH, (short) state.length).put(STATE, state);
        }
        return bytes.array();
    }

    /**
     * Decodes the context of a received call; {@code null} if the bytes are malformed. An invalid
     * trace is dropped, as tracing must not make a call fail.
     */
    public static CallContext read(byte[] bytes) {
        if (bytes.length != Long.BYTES && (bytes.length < STATE || bytes.length > LENGTH_MAX)) {
            return null;
        }
        ByteBuffer context = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        Deadline deadline = context.getLong(0) == NO_TIME ? null : Deadline.in(micros(context.getLong(0)));
        if (bytes.length == Long.BYTES) {
            return with(deadline, deadline, null);
        }
        int end = STATE + Short.toUnsignedInt(context.getShort(STATE_LENGTH));
        if (bytes[FLAGS + 1] != 0 || context.getInt(RESERVED) != 0 || end > bytes.length || bytes.length - end >= 8) {
            return null;
        }
        for (int at = end; at < bytes.length; at++) {
            if (bytes[at] != 0) {
                return null;
            }
        }
        return with(deadline, deadline, traceOf(bytes, end));
    }

    /** Returns a duration of an unsigned number of microseconds. */
    private static Duration micros(long count) {
        return Duration.ofSeconds(Long.divideUnsigned(count, 1_000_000), Long.remainderUnsigned(count, 1_000_000) * 1000);
    }

    private static Trace traceOf(byte[] bytes, int end) {
        HexFormat digits = HexFormat.of();
        String state = new String(bytes, STATE, end - STATE, StandardCharsets.ISO_8859_1);
        String trace = digits.formatHex(bytes, Long.BYTES, PARENT);
        try {
            return new Trace("00-" + trace + "-" + digits.formatHex(bytes, PARENT, FLAGS) + "-" + digits.toHexDigits(bytes[FLAGS]), state);
        } catch (IllegalArgumentException e) {
            // The trace ID or the parent ID is 0.
            return null;
        }
    }
}
