package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import obvia.Obvia;
import obvia.Trace;
import obvia.runtime.CallContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the deadlines and contexts of calls over networks. */
@Timeout(120)
class LimitTest {
    private static final long USUAL = Duration.ofSeconds(3000).toNanos();

    /** Returns the limits that a call of a virtual thread gets. */
    private static CompletableFuture<Limit> onVirtual(Function<Limit, Limit> work) {
        var outcome = new CompletableFuture<Limit>();
        Thread.ofVirtual().start(() -> {
            try {
                outcome.complete(Limit.run(USUAL, work));
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        return outcome;
    }

    @Test
    void aCallThatHasWaitedForAThreadSaysWhatTimeItHasLeft() throws Exception {
        var busy = new CountDownLatch(Limit.THREADS);
        var end = new CountDownLatch(1);
        List<CompletableFuture<Limit>> first = new ArrayList<>();
        for (int call = 0; call < Limit.THREADS; call++) {
            first.add(onVirtual(limit -> {
                busy.countDown();
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return limit;
            }));
        }
        assertTrue(busy.await(60, TimeUnit.SECONDS));
        long began = System.nanoTime();
        CompletableFuture<Limit> last = onVirtual(limit -> limit);
        // From some time on the call is in the queue, and it stays there.
        while (Limit.queued() == 0 || System.nanoTime() - began < 2 * Limit.QUEUED) {
            Thread.sleep(1);
        }
        long inQueue = System.nanoTime();
        while (System.nanoTime() - inQueue < 2 * Limit.QUEUED) {
            Thread.sleep(1);
        }
        end.countDown();
        Limit late = last.get(60, TimeUnit.SECONDS);
        assertNotSame(CallContext.NONE, late.context());
        assertEquals(Long.BYTES, late.context().toBytes().length, "the time, and no trace");
        for (CompletableFuture<Limit> one : first) {
            one.get(60, TimeUnit.SECONDS);
        }
    }

    @Test
    void aMethodInsideOfAnotherHearsItsOwnCaller() {
        var trace = new Trace("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        Obvia.withTrace(trace, () -> {
            assertTrue(Obvia.trace().isPresent());
            assertSame(CallContext.NONE, Limit.hearing(MemorySegment.NULL, CallContext::current));
            assertTrue(Obvia.trace().isPresent());
            MemorySegment said = new Limit(0, 0, CallContext.current()).said();
            assertEquals(trace, Limit.hearing(said, () -> Obvia.trace().orElseThrow()));
        });
    }
}
