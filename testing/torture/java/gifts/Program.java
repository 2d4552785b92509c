package gifts;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;

/**
 * Gives objects in calls that are refused.
 *
 * <ul>
 *  <li>{@code serve NAME [BINDING]} takes gifts until the standard input ends
 *  <li>{@code wait BINDING} connects to a server that accepts and never answers, until a line
 *      arrives
 *  <li>{@code give NAME} and {@code give BINDING OWN} give gifts to a server, which reaches this
 *      process at the binding {@code OWN}
 * </ul>
 */
final class Program {
    private static final int ROUNDS = 20;
    private static final long PATIENCE_SECONDS = 60;

    private Program() {}

    static void main(String[] words) throws Exception {
        switch (words[0]) {
            case "serve" -> serve(words);
            case "wait" -> await(words[1]);
            default -> give(words);
        }
        System.exit(0);
    }

    /** An object that takes gifts. */
    private static final class Taker implements IGifts {
        private final IGifts closed;
        private final List<WeakReference<IGift>> wrapped = new ArrayList<>();
        private IGift kept;

        Taker(IGifts closed) {
            this.closed = closed;
        }

        @Override
        public void keep(IGift gift) {
            if (kept != null) {
                Obvia.release(kept);
            }
            kept = gift;
        }

        @Override
        public void take(IGift one, IGift other) {
            takeSoon(one, other);
            throw RpcException.of(Hresult.E_FAIL, kept == null ? "the gifts are not wanted" : "there is one already");
        }

        @Override
        public void takeSoon(IGift one, IGift other) {
            Obvia.release(one);
            Obvia.release(other);
        }

        @Override
        public void label(IGift gift, String label) {
            Obvia.release(gift);
        }

        @Override
        public IGifts closed() {
            return closed;
        }

        @Override
        public IGift wrap(char[] label) {
            Arrays.fill(label, 'x');
            var gift = new Gift();
            wrapped.add(new WeakReference<>(gift));
            return gift;
        }

        @Override
        public void unwrapped() {
            try {
                for (WeakReference<IGift> gift : wrapped) {
                    awaitRelease(gift);
                }
            } catch (InterruptedException e) {
                throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the server ends");
            }
        }
    }

    private static final class Gift implements IGift {
        @Override
        public void nothing() {}
    }

    private static void serve(String[] words) throws Exception {
        var closed = new Taker(null);
        Obvia.setAccess(closed, _ -> false);
        try (var _ = Obvia.export(new Taker(closed), IGifts.class, words[1])) {
            System.out.println("ready " + (words.length > 2 ? Obvia.listen(words[2]) : ""));
            System.in.readAllBytes();
        }
    }

    /** Interrupts a virtual thread that connects. */
    private static void await(String binding) throws Exception {
        var outcome = new CompletableFuture<Object>();
        Thread connecting = Thread.ofVirtual().start(() -> {
            try {
                outcome.complete(Obvia.within(Duration.ofDays(1), () -> Obvia.connect(binding).bind(IGifts.class, "gifts")));
            } catch (RpcException e) {
                outcome.complete(e.result());
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        if (System.in.read() == -1) {
            throw new AssertionError("there is no line");
        }
        connecting.interrupt();
        awaitEnd(connecting);
        Object found = outcome.get();
        if (!found.equals(Hresult.RPC_E_CALL_CANCELED)) {
            throw new AssertionError("the outcome is " + found);
        }
        System.out.println("ok");
    }

    private static void give(String[] words) throws Exception {
        boolean isFar = words.length > 2;
        if (isFar) {
            Obvia.listen(words[2]);
        }
        IGifts open = isFar ? Obvia.connect(words[1]).bind(IGifts.class, "gifts") : Obvia.bind(IGifts.class, words[1]);
        IGifts closed = open.closed();
        List<WeakReference<IGift>> given = new ArrayList<>();
        var kept = new Gift();
        // The server keeps a gift, so the server has a link to this process. The server gives
        // references back over this link.
        open.keep(kept);
        onThread(Thread.ofPlatform(), () -> give(open, closed, given));
        onThread(Thread.ofVirtual(), () -> give(open, closed, given));
        for (WeakReference<IGift> gift : given) {
            awaitRelease(gift);
        }
        open.keep(null);
        var last = new WeakReference<IGift>(kept);
        java.lang.ref.Reference.reachabilityFence(kept);
        kept = null;
        awaitRelease(last);
        System.out.println("ok");
    }

    private static List<WeakReference<IGift>> give(IGifts open, IGifts closed, List<WeakReference<IGift>> given) {
        for (int round = 0; round < ROUNDS; round++) {
            given.add(gift(gift -> refused(Hresult.E_ACCESSDENIED, () -> closed.take(gift, gift))));
            given.add(gift(gift -> closed.takeSoon(gift, gift)));
            given.add(gift(gift -> refused(Hresult.E_FAIL, () -> open.take(gift, gift))));
            given.add(gift(gift -> open.takeSoon(gift, gift)));
            given.add(gift(gift -> {
                try {
                    closed.take(gift, null);
                    throw new AssertionError("a reference that is not optional is missing");
                } catch (RpcException | NullPointerException e) {
                    // The call was not sent.
                }
            }));
            given.add(gift(gift -> refused(Hresult.E_INVALIDARG, () -> open.label(gift, "a\0b"))));
            refused(Hresult.E_INVALIDARG, () -> open.wrap(new char[3]));
        }
        open.unwrapped();
        return given;
    }

    private static WeakReference<IGift> gift(java.util.function.Consumer<IGift> use) {
        var gift = new Gift();
        use.accept(gift);
        return new WeakReference<>(gift);
    }

    private static void refused(int why, Runnable call) {
        try {
            call.run();
        } catch (RpcException e) {
            if (e.result() == why) {
                return;
            }
            throw e;
        }
        throw new AssertionError("the call succeeds");
    }

    private static void onThread(Thread.Builder threads, Callable<?> work) throws Exception {
        var failure = new Throwable[1];
        awaitEnd(threads.start(() -> {
            try {
                work.call();
            } catch (Throwable e) {
                failure[0] = e;
            }
        }));
        if (failure[0] != null) {
            throw new AssertionError(failure[0]);
        }
    }

    private static void awaitEnd(Thread thread) throws InterruptedException {
        if (!thread.join(Duration.ofSeconds(PATIENCE_SECONDS))) {
            throw new AssertionError(thread + " hangs in " + Arrays.toString(thread.getStackTrace()));
        }
    }

    /** Waits until no reference to a gift is left. */
    private static void awaitRelease(WeakReference<IGift> gift) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE_SECONDS * 1_000_000_000;
        while (gift.get() != null) {
            if (System.nanoTime() > end) {
                throw new AssertionError("a gift is still held");
            }
            System.gc();
            Thread.sleep(5);
        }
    }
}
