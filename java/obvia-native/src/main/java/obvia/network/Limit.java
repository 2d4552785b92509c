package obvia.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.CallContext;

/**
 * The limits of a function of the library: its deadline, its canceller, and the context of its
 * calls.
 *
 * <p>Such a function blocks in native code, where a virtual thread would pin its carrier. A
 * platform thread therefore runs the function.
 *
 * @param until the deadline, by {@link System#nanoTime}
 * @param canceller the library's canceller, or 0
 * @param context the call context of the requesting thread
 */
record Limit(long until, long canceller, CallContext context) {
    /**
     * The maximum number of concurrent calls of virtual threads: each has a connection of its own.
     */
    static final int THREADS = 32;

    /**
     * The maximum time in nanoseconds that a call without context waits for a thread. A call that
     * has waited longer sends its remaining time, as the default deadline would be too late.
     */
    static final long QUEUED = 100_000_000;

    private static final long SAID = Long.BYTES + CallContext.LENGTH_MAX;

    private static final ThreadPoolExecutor POOL = new ThreadPoolExecutor(
            THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Thread.ofPlatform().daemon().name("obvia-network-", 0).factory());

    static {
        POOL.allowCoreThreadTimeOut(true);
    }

    long left() {
        return Math.max(0, until - System.nanoTime());
    }

    /** Returns the context in the library's format: the length and the bytes. */
    MemorySegment said() {
        if (context == CallContext.NONE) {
            return MemorySegment.NULL;
        }
        byte[] bytes = context.toBytes();
        MemorySegment said = Arena.ofAuto().allocate(SAID, Long.BYTES);
        said.set(ValueLayout.JAVA_LONG, 0, bytes.length);
        MemorySegment.copy(bytes, 0, said, ValueLayout.JAVA_BYTE, Long.BYTES, bytes.length);
        return said;
    }

    /**
     * Performs work with the context that the caller of a method has sent; {@code said} may be
     * null.
     */
    static <R, E extends Throwable> R hearing(MemorySegment said, ScopedValue.CallableOp<? extends R, E> work) throws E {
        CallContext heard = said.address() == 0 ? CallContext.NONE : heard(said);
        // A thread may perform a call within another one, whose context must not apply.
        return heard == CallContext.NONE && CallContext.current() == CallContext.NONE ? work.call() : heard.during(work);
    }

    private static CallContext heard(MemorySegment said) {
        MemorySegment whole = Functions.foreign(said, SAID);
        return CallContext.read(whole.asSlice(Long.BYTES, whole.get(ValueLayout.JAVA_LONG, 0)).toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * Runs a function that may block: on this thread, or on a platform thread if this one is
     * virtual.
     */
    static <R> R run(long nanoseconds, Function<Limit, R> work) {
        Limit limit = new Limit(System.nanoTime() + nanoseconds, 0, CallContext.current());
        return Thread.currentThread().isVirtual() ? handOver(limit, work) : work.apply(limit);
    }

    /** Returns the number of calls that wait for a thread. */
    static int queued() {
        return POOL.getQueue().size();
    }

    /**
     * Returns the limits of a call that has waited for a thread since {@code began}. Without a
     * context the library would apply the whole default deadline from now on.
     */
    private Limit waitedSince(long began) {
        boolean isLate = context == CallContext.NONE && System.nanoTime() - began > QUEUED;
        return isLate ? new Limit(until, canceller, context.by(until)) : this;
    }

    private static <R> R handOver(Limit limit, Function<Limit, R> work) {
        long began = System.nanoTime();
        Limit cancellable = new Limit(limit.until, Functions.newCanceller(), limit.context);
        try {
            AtomicBoolean isBegun = new AtomicBoolean();
            FutureTask<R> task = new FutureTask<>(() -> isBegun.compareAndSet(false, true) ? work.apply(cancellable.waitedSince(began)) : null);
            POOL.execute(task);
            return await(task, cancellable, isBegun);
        } finally {
            Functions.freeCanceller(cancellable.canceller);
        }
    }

    /** Waits for the task's end: once begun, the task uses memory of the caller. */
    private static <R> R await(FutureTask<R> task, Limit limit, AtomicBoolean isBegun) {
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return isBegun.get() ? task.get() : task.get(limit.left(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException e) {
                    if (isBegun.compareAndSet(false, true)) {
                        throw RpcException.of(Hresult.RPC_E_TIMEOUT, "other threads' calls took all connections until the deadline");
                    }
                } catch (InterruptedException e) {
                    isInterrupted = true;
                    Functions.cancel(limit.canceller);
                    if (isBegun.compareAndSet(false, true)) {
                        throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
                    }
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof Error error) {
                        throw error;
                    }
                    throw e.getCause() instanceof RuntimeException why ? why : new IllegalStateException(e.getCause());
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
