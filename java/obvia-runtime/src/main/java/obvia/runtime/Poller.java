package obvia.runtime;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for all virtual threads that sleep on connections, on one platform thread: a virtual thread that selects would keep its carrier.
 */
final class Poller implements Runnable {
    private static final class Holder {
        static final Poller INSTANCE = start();
    }

    private final Selector selector;

    private Poller(Selector selector) {
        this.selector = selector;
    }

    static Poller instance() {
        return Holder.INSTANCE;
    }

    private static Poller start() {
        try {
            Poller poller = new Poller(Selector.open());
            Thread.ofPlatform().name("obvia-poller").daemon().start(poller);
            return poller;
        } catch (IOException e) {
            throw new UncheckedIOException("making a selector", e);
        }
    }

    /** Parks the current thread until the socket has something, the thread is unparked, or so many nanoseconds have passed. */
    void park(SocketChannel socket, long nanos) throws IOException {
        Thread thread = Thread.currentThread();
        SelectionKey key = socket.keyFor(selector);
        if (key == null) {
            socket.register(selector, SelectionKey.OP_READ, thread);
        } else {
            key.attach(thread);
            key.interestOps(SelectionKey.OP_READ);
        }
        selector.wakeup();
        LockSupport.parkNanos(this, nanos);
    }

    @Override
    public void run() {
        while (true) {
            try {
                selector.select(Poller::unpark);
            } catch (IOException | ClosedSelectorException e) {
                // Whoever waits looks again by itself, later.
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private static void unpark(SelectionKey key) {
        Object waiter = key.attachment();
        try {
            key.interestOps(0);
        } catch (CancelledKeyException e) {
            // The connection is closed.
        }
        LockSupport.unpark((Thread) waiter);
    }
}
