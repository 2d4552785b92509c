package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import obvia.runtime.Channel;
import obvia.runtime.Flat;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Reference;
import obvia.runtime.Transport;
import obvia.runtime.call.Deadline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that the collector does not release the references of proxies that are in use and not
 * reachable otherwise.
 */
@Timeout(120)
class ReachabilityTest {
    /**
     * The number of calls after which the compiler has optimized the caller. The caller's stack
     * frames then keep only references that are still needed.
     */
    private static final int WARM_UP = 20_000;

    /** The number of collections during a call. */
    private static final int LOOKS = 20;

    /** A transport to objects that add their arguments. */
    private static final class Adding extends Transport {
        private final AtomicInteger returned = new AtomicInteger();
        private boolean isCollecting;
        /** The number of references that had been released when the response arrived. */
        private int returnedInCall;

        /** Runs the collector. */
        private void collect() {
            for (int look = 0; look < LOOKS; look++) {
                System.gc();
                // Another thread releases the references of collected proxies.
                sleep();
            }
        }

        private static void sleep() {
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }

        @Override
        protected Channel channel() {
            return new Channel(this) {
                @Override
                protected Channel request(int length) {
                    memory = MemorySegment.ofArray(new long[1]);
                    return this;
                }

                @Override
                protected int exchange(long target, int opnum, int length) {
                    if (isCollecting) {
                        collect();
                        returnedInCall = returned.get();
                    }
                    replyMemory = MemorySegment.ofArray(new long[] {memory.get(Flat.INT, 0) + memory.get(Flat.INT, 4)});
                    this.length = 8;
                    return 0;
                }

                @Override
                protected void oneway(long target, int opnum, int length) {
                    exchange(target, opnum, length);
                }

                @Override
                public void end() {}
            };
        }

        @Override
        protected long oxid() {
            return 1;
        }

        @Override
        protected byte[] reference(long through, Object object, InterfaceInfo<?> info) {
            return new byte[0];
        }

        @Override
        protected <T> T object(long through, byte[] reference, InterfaceInfo<T> info) {
            return null;
        }

        @Override
        protected <T> T query(long through, long oid, InterfaceInfo<T> info) {
            if (isCollecting) {
                collect();
                returnedInCall = returned.get();
            }
            return proxy(info, 2, oid, 1);
        }

        @Override
        protected void releaseLater(long target, int refs) {
            if (target == 1) {
                returned.incrementAndGet();
            }
        }

        /** Calls a proxy to which only the call itself refers. */
        private int add() {
            return proxy(ICalcInfo.INFO, 1, 1, 1).add(3, 4);
        }

        /** Makes a call without response by a proxy to which only the call itself refers. */
        private void tell() {
            ((ICalcInfo.CalcProxy) proxy(ICalcInfo.INFO, 1, 1, 1)).tell();
        }

        /** Creates two proxies of one reference. */
        private ICalc twice() {
            InterfaceInfo<ICalc> info = ICalcInfo.INFO;
            Function<Reference, ICalc> factory = reference -> {
                info.proxy().apply(reference);
                return info.proxy().apply(reference);
            };
            return proxy(new InterfaceInfo<>(ICalc.class, "ICalc", info.iid(), 0, 0, 0, null, factory, info.stub(), "", List::of), 1, 1, 1);
        }

        /** Queries a proxy to which only the query itself refers. */
        private Object as() {
            return obvia.Obvia.as(proxy(ICalcInfo.INFO, 1, 1, 1), ICalc2.class);
        }
    }

    /** The test program, which uses proxies to which only their uses refer. */
    static final class Collected {
        private Collected() {}

        /**
         * Tests all uses in a virtual machine without options, whose compiler keeps fewer
         * references than in a short run.
         */
        static void main() {
            Adding transport = new Adding();
            check("a call", transport, transport::add);
            Adding other = new Adding();
            check("a call without response", other, other::tell);
            Adding third = new Adding();
            check("a query", third, third::as);
        }

        private static void check(String what, Adding transport, Runnable use) {
            for (int turn = 0; turn < WARM_UP; turn++) {
                use.run();
            }
            await(transport, WARM_UP);
            transport.isCollecting = true;
            use.run();
            transport.isCollecting = false;
            if (transport.returnedInCall != WARM_UP) {
                throw new IllegalStateException(what + ": its object was given back before it had answered");
            }
            // After the call, the reference is released.
            await(transport, WARM_UP + 1);
        }

        private static void await(Adding transport, int returned) {
            Deadline deadline = Deadline.in(java.time.Duration.ofSeconds(60));
            while (transport.returned.get() != returned) {
                System.gc();
                Adding.sleep();
                deadline.check();
            }
        }
    }

    @Test
    void aReferenceBelongsToOneProxy() {
        assertThrows(IllegalStateException.class, new Adding()::twice);
    }

    @Test
    void objectsAreNotReleasedDuringACall() {
        Collected.main();
    }

    @Test
    void objectsAreNotReleasedDuringACallInCompiledCode() throws Exception {
        Peer.collecting().close();
    }
}
