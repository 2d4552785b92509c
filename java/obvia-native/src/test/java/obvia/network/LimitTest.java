package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongConsumer;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.Trace;
import obvia.runtime.call.CallContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the deadlines and contexts of calls over networks. */
@Timeout(120)
class LimitTest {
    private static final long USUAL = Duration.ofSeconds(3000).toNanos();

    /** Starts work on a virtual thread, and returns its outcome. */
    private static <R> CompletableFuture<R> onVirtual(Callable<R> work) {
        var outcome = new CompletableFuture<R>();
        Thread.ofVirtual().start(() -> {
            try {
                outcome.complete(work.call());
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        return outcome;
    }

    @Test
    void callsWithoutTimeoutSendNoTimeLeftAfterWaitingForAThread() throws Exception {
        var busy = new CountDownLatch(Limit.THREADS);
        var end = new CountDownLatch(1);
        List<CompletableFuture<Limit>> first = new ArrayList<>();
        for (int call = 0; call < Limit.THREADS; call++) {
            first.add(onVirtual(() -> Limit.run(USUAL, limit -> {
                busy.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return limit;
            })));
        }
        assertTrue(busy.await(60, TimeUnit.SECONDS));
        CompletableFuture<Limit> last = onVirtual(() -> Limit.run(USUAL, limit -> limit));
        while (Limit.queued() == 0) {
            Thread.sleep(1);
        }
        // The call waits for a thread longer than the grace period. Even then, the call must not
        // send the remaining time as a deadline.
        Thread.sleep(Limit.GRACE / 1_000_000 * 3);
        end.countDown();
        Limit late = last.get(60, TimeUnit.SECONDS);
        assertSame(CallContext.NONE, late.context());
        assertEquals(MemorySegment.NULL, late.said());
        for (CompletableFuture<Limit> one : first) {
            one.get(60, TimeUnit.SECONDS);
        }
    }

    private static RpcException failure(CompletableFuture<?> call) {
        return assertInstanceOf(RpcException.class, assertThrows(ExecutionException.class, () -> call.get(100, TimeUnit.SECONDS)).getCause());
    }

    /**
     * If the library does not end a call without a deadline in time, {@code Limit} ends the call.
     */
    @Test
    void callsWithoutTimeoutEndAtTheDefaultDeadline() {
        var isBegun = new AtomicBoolean();
        RpcException late = null;
        // On a busy machine the time limit may pass before the call has a thread.
        while (!isBegun.get()) {
            var end = new CompletableFuture<Void>();
            Function<Limit, Void> work = limit -> {
                isBegun.set(true);
                end.join();
                throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the call was cancelled");
            };
            late = failure(onVirtual(() -> Limit.run(1_000_000, work, canceller -> end.complete(null))));
        }
        assertEquals(Hresult.RPC_E_TIMEOUT, late.result());
        assertEquals("the deadline of the call passed", late.getMessage());
    }

    /**
     * The library uses the buffers and the canceller of a call until the call returns, even if the
     * memory of the waiting thread is exhausted.
     */
    @Test
    void failuresOfTheWaitLeaveNoCallBehind() throws Exception {
        var isBegun = new AtomicBoolean();
        var hasLeft = new AtomicBoolean();
        String found = null;
        while (!isBegun.get()) {
            var failed = new CountDownLatch(1);
            var call = new CompletableFuture<CompletableFuture<String>>();
            Function<Limit, String> work = limit -> {
                isBegun.set(true);
                try {
                    failed.await();
                    call.join().get(200, TimeUnit.MILLISECONDS);
                    hasLeft.set(true);
                } catch (TimeoutException e) {
                    return "done";
                } catch (InterruptedException | ExecutionException e) {
                    hasLeft.set(true);
                }
                return "left";
            };
            LongConsumer cancel = canceller -> {
                failed.countDown();
                throw new OutOfMemoryError("a test");
            };
            CompletableFuture<String> waiting = onVirtual(() -> Limit.run(1_000_000, work, cancel));
            call.complete(waiting);
            found = waiting.exceptionally(late -> null).get(100, TimeUnit.SECONDS);
        }
        assertEquals("done", found);
        assertFalse(hasLeft.get());
    }

    /** A call can complete at the moment at which its deadline expires. */
    @Test
    void lateResultsAreReturned() throws Exception {
        var isBegun = new AtomicBoolean();
        String found = null;
        while (!isBegun.get()) {
            var end = new CompletableFuture<String>();
            Function<Limit, String> work = limit -> {
                isBegun.set(true);
                return end.join();
            };
            CompletableFuture<String> call = onVirtual(() -> Limit.run(1_000_000, work, canceller -> end.complete("done")));
            found = call.exceptionally(late -> null).get(100, TimeUnit.SECONDS);
        }
        assertEquals("done", found);
    }

    @Test
    void nestedMethodsSeeTheContextOfTheirOwnCaller() {
        var trace = new Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        Obvia.withTrace(trace, () -> {
            assertTrue(Obvia.trace().isPresent());
            assertSame(CallContext.NONE, Limit.hearing(0, CallContext::current));
            assertTrue(Obvia.trace().isPresent());
            MemorySegment said = new Limit(0, 0, CallContext.current()).said();
            assertEquals(trace, Limit.hearing(said.address(), () -> Obvia.trace().orElseThrow()));
        });
    }
}
