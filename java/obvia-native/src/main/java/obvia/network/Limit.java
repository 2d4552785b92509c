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
 * How long a function of the library may take, what ends it before, and what its calls say beside their arguments.
 *
 * <p>Such a function waits in native code, where a virtual thread would keep its carrier from all others. So it has a platform thread do it.
 *
 * @param until a point of {@link System#nanoTime}
 * @param canceller the library's, or 0
 * @param context what the calls of the thread say which asks for it
 */
record Limit(long until, long canceller, CallContext context) {
    /** Calls of virtual threads that go on at a time: each has a connection of its own. */
    static final int THREADS = 32;

    /** Nanoseconds that a call which says nothing may wait for a thread: one that has waited longer says what time it has left, which is no longer the usual one. */
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

    /** What calls say, as the library has it: their length, and the bytes. */
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

    /** Does some work as a method whose caller has said this, or nothing. */
    static <R, E extends Throwable> R hearing(MemorySegment said, ScopedValue.CallableOp<? extends R, E> work) throws E {
        CallContext heard = said.address() == 0 ? CallContext.NONE : heard(said);
        // A thread may perform a call within another one.
        return heard == CallContext.NONE && CallContext.current() == CallContext.NONE ? work.call() : heard.during(work);
    }

    private static CallContext heard(MemorySegment said) {
        MemorySegment whole = Functions.foreign(said, SAID);
        return CallContext.read(whole.asSlice(Long.BYTES, whole.get(ValueLayout.JAVA_LONG, 0)).toArray(ValueLayout.JAVA_BYTE));
    }

    /** Does what may wait: on this thread, unless it is a virtual one. */
    static <R> R run(long nanoseconds, Function<Limit, R> work) {
        Limit limit = new Limit(System.nanoTime() + nanoseconds, 0, CallContext.current());
        return Thread.currentThread().isVirtual() ? handOver(limit, work) : work.apply(limit);
    }

    /** Calls that wait for a thread. */
    static int queued() {
        return POOL.getQueue().size();
    }

    /** This for a call that has waited for a thread since some time: the library gives one that says nothing the usual time from now on. */
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

    /** Waits until it is done: whoever has begun uses memory of the caller's. */
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
