package peer;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import victim.IThing;
import victim.IVictim;

/**
 * Tests calls over networks: many threads, deadlines, interruptions, released references, and a
 * killed server.
 */
final class Networked {
    /** The time limit of waits. A program that reaches the limit hangs. */
    private static final Duration LATEST = Duration.ofSeconds(100);

    private Networked() {}

    public static void main(String[] arguments) throws Exception {
        IVictim victim = Obvia.connect(arguments[1]).bind(IVictim.class, arguments[0]);
        manyThreads(victim);
        slow(victim);
        interrupted(victim);
        released(victim);
        System.out.println("kill");
        System.in.read();
        // A client that does not notice the server's death would report a timeout.
        int result = Obvia.within(Duration.ofSeconds(40), () -> result(() -> victim.add(1, 2)));
        check(result == Hresult.RPC_E_DISCONNECTED || result == Hresult.RPC_S_SERVER_UNAVAILABLE, "a killed server: " + Hresult.text(result));
        System.out.println("good");
        System.exit(0);
    }

    private static void check(boolean isSo, String what) {
        if (!isSo) {
            throw new AssertionError(what);
        }
    }

    private static int result(Runnable call) {
        try {
            call.run();
            return Hresult.S_OK;
        } catch (RpcException e) {
            return e.result();
        }
    }

    private static void awaitEnd(Thread thread) throws InterruptedException {
        if (!thread.join(LATEST)) {
            throw new AssertionError(thread + " hangs in " + Arrays.toString(thread.getStackTrace()));
        }
    }

    /**
     * Calls from more virtual threads than there are connections for them, and from some platform
     * threads.
     */
    private static void manyThreads(IVictim victim) throws InterruptedException {
        AtomicInteger good = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            int number = i;
            Thread.Builder thread = i % 10 == 0 ? Thread.ofPlatform() : Thread.ofVirtual();
            threads.add(thread.start(() -> {
                int[] values = {number, 1, 2};
                victim.reverse(values);
                if (victim.make(number).number() == number && victim.visit(new Things(number)) == number && values[2] == number) {
                    good.incrementAndGet();
                }
            }));
        }
        for (Thread thread : threads) {
            awaitEnd(thread);
        }
        check(good.get() == 100, good + " of 100 threads had what they asked for");
    }

    /** An object whose method keeps the server waiting. */
    private static final class Slow implements IThing {
        private final CountDownLatch called = new CountDownLatch(1);
        private final CountDownLatch goOn = new CountDownLatch(1);

        @Override
        public int number() {
            called.countDown();
            try {
                goOn.await();
            } catch (InterruptedException e) {
                throw new RpcException(Hresult.E_FAIL);
            }
            return 1;
        }
    }

    private static void slow(IVictim victim) throws Exception {
        Slow thing = new Slow();
        // The method returns after the call has timed out.
        int result = Obvia.within(Duration.ofMillis(300), () -> result(() -> victim.visit(thing)));
        check(result == Hresult.RPC_E_TIMEOUT, "a late call: " + Hresult.text(result));
        thing.goOn.countDown();
        check(victim.add(1, 2) == 3, "a call after a late one");
    }

    private static void interrupted(IVictim victim) throws InterruptedException {
        Slow thing = new Slow();
        AtomicInteger result = new AtomicInteger();
        Thread caller = Thread.ofVirtual().start(() -> {
            result.set(result(() -> victim.visit(thing)));
            // A call that fails at once ends the wait for the object's method.
            thing.called.countDown();
        });
        if (!thing.called.await(LATEST.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("the object is not called, but " + Arrays.toString(caller.getStackTrace()));
        }
        caller.interrupt();
        awaitEnd(caller);
        thing.goOn.countDown();
        check(result.get() == Hresult.RPC_E_CALL_CANCELED, "an interrupted call: " + Hresult.text(result.get()));
        check(victim.add(1, 2) == 3, "a call after an interrupted one");
    }

    private static void released(IVictim victim) {
        IThing thing = victim.make(3);
        IThing same = Obvia.as(thing, IThing.class);
        check(Obvia.isSame(thing, same) && !Obvia.isSame(thing, victim.make(3)), "objects are told apart");
        Obvia.release(thing);
        check(result(thing::number) == Hresult.RPC_E_DISCONNECTED, "a reference that was given back");
    }
}
