package obvia.runtime.shm;

import java.io.IOException;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits on behalf of all virtual threads that sleep on connections, and of all connections without
 * a thread. The poller has one platform thread, because a virtual thread in a selector would pin
 * its carrier.
 */
final class Poller implements RepeatedTask.Step {
    /** The poller; {@code null} before its first successful start. */
    private static volatile Poller instance;

    private final Selector selector;

    private Poller(Selector selector) {
        this.selector = selector;
    }

    /**
     * Returns the poller.
     *
     * @throws IOException if it cannot be started now, because the system is at a limit of
     *     descriptors or threads
     */
    static Poller instance() throws IOException {
        Poller started = instance;
        return started != null ? started : start();
    }

    private static synchronized Poller start() throws IOException {
        if (instance == null) {
            Selector selector = Selector.open();
            Poller poller = new Poller(selector);
            try {
                RepeatedTask.start("obvia-poller", true, "waiting for connections", poller);
            } catch (OutOfMemoryError e) {
                selector.close();
                throw new IOException("there is no thread that waits for connections", e);
            }
            instance = poller;
        }
        return instance;
    }

    /**
     * Parks the current thread until the socket is readable, the thread is unparked, or
     * {@code nanos} nanoseconds have passed.
     */
    void park(SocketChannel socket, long nanos) throws IOException {
        await(socket, Thread.currentThread());
        LockSupport.parkNanos(this, nanos);
    }

    /**
     * Calls {@code then} on the poller's thread when the socket is readable or the peer has closed
     * it. The action must not block.
     */
    void watch(SocketChannel socket, Runnable then) throws IOException {
        await(socket, then);
    }

    /**
     * Releases the file descriptors of closed sockets. A registered socket keeps its descriptor
     * until the selector polls again, which may take long while no other connection is used.
     */
    static void release() {
        Poller started = instance;
        if (started != null) {
            started.selector.wakeup();
        }
    }

    private void await(SocketChannel socket, Object waiter) throws IOException {
        SelectionKey key = socket.keyFor(selector);
        if (key == null) {
            socket.register(selector, SelectionKey.OP_READ, waiter);
        } else {
            key.attach(waiter);
            key.interestOps(SelectionKey.OP_READ);
        }
        selector.wakeup();
    }

    /**
     * Polls once. If this method fails, each waiting thread still checks its own socket when its
     * sleep ends.
     */
    @Override
    public boolean perform() throws IOException {
        selector.select(Poller::wake);
        return true;
    }

    private static void wake(SelectionKey key) {
        try {
            // The interest is cleared before the waiter is read, because a later waiter sets the
            // interest again.
            key.interestOps(0);
        } catch (CancelledKeyException e) {
            // The connection is closed.
        }
        switch (key.attachment()) {
            case Thread thread -> LockSupport.unpark(thread);
            case Runnable then -> then.run();
            default -> throw new IllegalStateException();
        }
    }
}
