package obvia.runtime.objects;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.call.CallContext;

/**
 * The connection of a link for the calls between runtimes, above all requests for references and
 * their release. One thread at a time uses the connection.
 */
final class HomeConnection {
    private final Link link;
    private final ReentrantLock lock = new ReentrantLock();
    /**
     * The channel. Only a thread that holds the lock changes this field; threads without the lock
     * only compare the channel, or close it.
     */
    private volatile WindowChannel channel;

    HomeConnection(Link link, WindowChannel channel) {
        this.link = link;
        this.channel = channel;
    }

    /** Returns the channel of a link that other threads do not know yet. */
    WindowChannel channel() {
        return channel;
    }

    /** Whether this is the connection of the channel. */
    boolean has(WindowChannel other) {
        return channel == other;
    }

    /** Makes a call of the runtime itself by {@code work}. */
    <R> R use(Function<WindowChannel, R> work) {
        enter();
        try {
            return work.apply(usableChannel());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes a call of the runtime itself by {@code work}, unless another thread uses the
     * connection. Returns whether the call was made.
     */
    boolean tryUse(Consumer<WindowChannel> work) {
        if (!lock.tryLock()) {
            return false;
        }
        try {
            work.accept(usableChannel());
            return true;
        } finally {
            lock.unlock();
        }
    }

    private WindowChannel usableChannel() {
        if (channel.isClosed()) {
            // A call on the connection timed out, or the process has ended. The new connection is
            // opened before the old connection is closed, so that the server does not regard this
            // client as dead.
            WindowChannel former = channel;
            channel = link.connect(Waiting.ADAPTIVE, true);
            channel.owner = Thread.currentThread();
            former.window().close();
        }
        return channel;
    }

    /** Waits until no other thread uses the connection, at most until the deadline. */
    private void enter() {
        if (lock.tryLock()) {
            return;
        }
        try {
            if (!lock.tryLock(CallContext.currentDeadline().left(), TimeUnit.NANOSECONDS)) {
                throw RpcException.of(Hresult.RPC_E_TIMEOUT, "the process did not respond to another thread's query before the deadline");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted", e);
        }
    }

    /** Whether the peer's process is gone; false while another thread uses the connection. */
    boolean isDead() {
        if (!lock.tryLock()) {
            // The thread that uses the connection notices whether the process is gone.
            return false;
        }
        try {
            return channel.window().isClosed();
        } finally {
            lock.unlock();
        }
    }

    void close() {
        channel.window().close();
    }
}
