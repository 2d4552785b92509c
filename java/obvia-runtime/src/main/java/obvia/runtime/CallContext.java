package obvia.runtime;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import obvia.Trace;

/**
 * What calls say beside their arguments: how long their callers wait, and the trace that they belong to. docs/flat.md has the bytes, {@code crates/com/src/call_context.rs} both sides in
 * Rust.
 *
 * <p>It is a scoped value, so that the tasks that some work forks, and waits for, have it as well. Calls of a thread without one say nothing.
 */
public final class CallContext {
    /** The longest one, in bytes. */
    public static final int LENGTH_MAX = 552;

    /** Of calls that say nothing. */
    public static final CallContext NONE = new CallContext(null, null, null);

    private static final long NO_TIME = -1;
    private static final int PARENT = 24;
    private static final int FLAGS = 32;
    private static final int STATE_LENGTH = 34;
    private static final int RESERVED = 36;
    private static final int STATE = 40;

    private static final ScopedValue<CallContext> OF_WORK = ScopedValue.newInstance();

    /** By when calls have to be done; {@code null} where nobody has said so. */
    private final Deadline deadline;
    /** By when the caller of the method that the thread performs wants the answer; {@code null} where it has not said so. */
    private final Deadline callers;
    private final Trace trace;

    private static CallContext with(Deadline deadline, Deadline callers, Trace trace) {
        return deadline == null && callers == null && trace == null ? NONE : new CallContext(deadline, callers, trace);
    }

    private CallContext(Deadline deadline, Deadline callers, Trace trace) {
        this.deadline = deadline;
        this.callers = callers;
        this.trace = trace;
    }

    /** That of calls that this thread makes now. */
    public static CallContext current() {
        return OF_WORK.isBound() ? OF_WORK.get() : NONE;
    }

    /** By when calls have to be done, or {@code null}. */
    Deadline deadline() {
        return deadline;
    }

    /** See {@link obvia.Obvia#callerDeadline}. */
    Optional<Instant> callerDeadline() {
        return Optional.ofNullable(callers).map(end -> Instant.now().plusNanos(end.at() - System.nanoTime()));
    }

    Optional<Trace> trace() {
        return Optional.ofNullable(trace);
    }

    /** This with another deadline, unless there is one that is sooner. */
    CallContext by(Deadline other) {
        return with(deadline != null && deadline.at() - other.at() <= 0 ? deadline : other, callers, trace);
    }

    /** This as a part of another trace. */
    CallContext of(Trace other) {
        return with(deadline, callers, other);
    }

    /** This as a method has it that nobody waits for. */
    CallContext withoutTime() {
        return with(null, null, trace);
    }

    /** Does some work whose calls have this. */
    public <R, E extends Throwable> R during(ScopedValue.CallableOp<? extends R, E> work) throws E {
        Link.putAway();
        try {
            return ScopedValue.where(OF_WORK, this).call(work);
        } finally {
            // Work that says nothing may be a part of work that does.
            Link.putAway();
        }
    }

    /** How it is said now: the time that is left becomes less. */
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
     * Reads that of a call which has come; {@code null} where the bytes are none. A trace that is none is left out, as tracing is no reason to refuse a call.
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

    /** As many microseconds, which have no sign. */
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
            // One of the numbers is 0.
            return null;
        }
    }
}
