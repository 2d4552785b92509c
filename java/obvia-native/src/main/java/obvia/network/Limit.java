package obvia.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongConsumer;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.CallContext;

/**
 * The limits of a function of the library: its deadline, its canceller, and the context of its
 * calls.
 *
 * <p>A function of the library blocks in native code. A virtual thread would pin its carrier there,
 * so a platform thread runs the function.
 *
 * @param until the deadline, by {@link System#nanoTime}
 * @param canceller the library's handle of a canceller, or 0
 * @param context the context of the calls of the requesting thread
 */
record Limit(long until, long canceller, CallContext context) {
    /**
     * The maximum number of concurrent calls of virtual threads. Each of these calls has a
     * connection of its own.
     */
    static final int THREADS = 32;

    /**
     * The time in nanoseconds from the deadline until this class ends a call. Normally the library
     * has already ended the call at the deadline, with a more precise error.
     */
    static final long GRACE = 100_000_000;

    private static final long SAID = Long.BYTES + CallContext.LENGTH_MAX;

    private static final ThreadPoolExecutor POOL = new ThreadPoolExecutor(
            THREADS, THREADS, 10, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), Thread.ofPlatform().daemon().name("obvia-network-", 0).factory());

    static {
        POOL.allowCoreThreadTimeOut(true);
    }

    long left() {
        return Math.max(0, until - System.nanoTime());
    }

    /**
     * Returns the context in the library's format: the length, then the bytes. Returns address 0 if
     * there is no context.
     */
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
     * Performs work with the context that the caller of a method has sent. {@code said} is
     * the address of the context in the library's format, or 0 if the caller sent none.
     */
    static <R, E extends Throwable> R hearing(long said, ScopedValue.CallableOp<? extends R, E> work) throws E {
        CallContext heard = said == 0 ? CallContext.NONE : heard(said);
        // The thread can receive this call while it performs another call. The context of the other
        // call must not apply to this call.
        return heard == CallContext.NONE && CallContext.current() == CallContext.NONE ? work.call() : heard.during(work);
    }

    private static CallContext heard(long said) {
        MemorySegment whole = Functions.foreign(said, SAID);
        return CallContext.read(whole.asSlice(Long.BYTES, whole.get(ValueLayout.JAVA_LONG, 0)).toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * Runs a function that may block: on this thread, or on a platform thread if this thread is
     * virtual.
     */
    static <R> R run(long nanoseconds, Function<Limit, R> work) {
        return run(nanoseconds, work, Functions::cancel);
    }

    /**
     * Runs a function as {@link #run(long, Function)} does; {@code cancel} ends a call by its
     * canceller.
     */
    static <R> R run(long nanoseconds, Function<Limit, R> work, LongConsumer cancel) {
        Limit limit = new Limit(System.nanoTime() + nanoseconds, 0, CallContext.current());
        return Thread.currentThread().isVirtual() ? handOver(limit, work, cancel) : work.apply(limit);
    }

    /** Returns the number of calls that wait for a thread. */
    static int queued() {
        return POOL.getQueue().size();
    }

    private static <R> R handOver(Limit limit, Function<Limit, R> work, LongConsumer cancel) {
        Limit cancellable = new Limit(limit.until, Functions.newCanceller(), limit.context);
        try {
            return new HandedOver<>(cancellable, work, cancel).await();
        } finally {
            Functions.freeCanceller(cancellable.canceller);
        }
    }

    /** Work that a thread of the pool does while a virtual thread waits. */
    private static final class HandedOver<R> {
        private final Limit limit;
        private final LongConsumer cancel;
        /** Whether the work has begun, or can no longer begin. */
        private final AtomicBoolean isBegun = new AtomicBoolean();
        private final FutureTask<R> task;
        private boolean isInterrupted;
        private boolean isLate;
        /** The first failure of the wait itself. */
        private Throwable failure;

        HandedOver(Limit limit, Function<Limit, R> work, LongConsumer cancel) {
            this.limit = limit;
            this.cancel = cancel;
            task = new FutureTask<>(() -> isBegun.compareAndSet(false, true) ? work.apply(limit) : null);
        }

        /**
         * Waits until the work is done, even after the call was cancelled: work that has begun uses
         * the caller's memory and the canceller. An error of this thread, such as exhausted memory,
         * cancels the call as an interrupt does.
         *
         * <p>For a call without a deadline, the library starts the usual time limit when the call
         * gets its thread. The wait for a thread has to count toward the limit, too, but the limit
         * must not be sent to the callee as a deadline. This method therefore ends the call itself.
         */
        R await() {
            try {
                begin();
                while (!task.isDone()) {
                    awaitOnce();
                }
                return outcome();
            } finally {
                if (isInterrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }

        private void begin() {
            try {
                POOL.execute(task);
            } catch (RuntimeException | Error e) {
                // The pool may have queued the work before it failed.
                if (isBegun.compareAndSet(false, true)) {
                    throw e;
                }
            }
        }

        /** Waits once. Throws an exception only if the work has not begun and never will. */
        private void awaitOnce() {
            try {
                if (isLate) {
                    task.get();
                } else {
                    task.get(limit.left() + GRACE, TimeUnit.NANOSECONDS);
                }
            } catch (ExecutionException e) {
                // The work is done: it has failed.
            } catch (TimeoutException e) {
                isLate = true;
                if (stop()) {
                    throw RpcException.of(Hresult.RPC_E_TIMEOUT, "the calls of other threads used all connections until the deadline");
                }
            } catch (InterruptedException e) {
                isInterrupted = true;
                if (stop()) {
                    throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
                }
            } catch (RuntimeException | Error e) {
                boolean isFirst = failure == null;
                failure = isFirst ? e : failure;
                if (isFirst && stop()) {
                    throw e;
                }
            }
        }

        /**
         * Keeps the work from beginning, and returns true. If the work has already begun, cancels
         * the work, and returns false.
         */
        private boolean stop() {
            if (isBegun.compareAndSet(false, true)) {
                return true;
            }
            try {
                cancel.accept(limit.canceller);
            } catch (RuntimeException | Error e) {
                failure = failure == null ? e : failure;
            }
            return false;
        }

        private R outcome() {
            // `get` is not called here, because a second interrupt would end `get`.
            if (task.state() == Future.State.SUCCESS) {
                return task.resultNow();
            }
            Throwable why = task.exceptionNow();
            if (failure != null) {
                throw unchecked(failure);
            }
            throw isLate && !isInterrupted ? inTime(why) : unchecked(why);
        }
    }

    /**
     * Returns the failure of a call that was cancelled at its deadline: RPC_E_TIMEOUT instead of
     * RPC_E_CALL_CANCELED.
     */
    private static RuntimeException inTime(Throwable why) {
        boolean isEnded = why instanceof RpcException known && known.result() == Hresult.RPC_E_CALL_CANCELED;
        return isEnded ? RpcException.of(Hresult.RPC_E_TIMEOUT, "the deadline of the call passed", why) : unchecked(why);
    }

    private static RuntimeException unchecked(Throwable why) {
        return switch (why) {
            case Error error -> throw error;
            case RuntimeException known -> known;
            default -> new IllegalStateException(why);
        };
    }
}
