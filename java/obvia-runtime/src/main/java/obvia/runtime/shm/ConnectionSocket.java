package obvia.runtime.shm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.PeerFailure;

/**
 * The socket of a connection: for the greeting, for waking up a sleeping thread, and for detecting
 * the peer's death.
 *
 * <p>One thread at a time uses the socket, except for {@link #wake} and {@link #close}.
 */
final class ConnectionSocket implements AutoCloseable {
    /** The byte that wakes the peer up. */
    static final byte CALL = 0;
    /** The maximum number of reads in one call of {@link #next} or {@link #look}. */
    private static final int LOOKS = 64;

    private final SocketChannel socket;
    private final ByteBuffer got = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN).flip();
    private final ByteBuffer call = ByteBuffer.allocate(1);
    private Selector selector;
    /** The thread that slept last, if it is virtual; null if it is a platform thread. */
    private volatile Thread virtual;
    /** Whether the socket can be registered with the poller. The poller then has to release it. */
    private volatile boolean isPolled;
    private boolean hasEnded;
    private boolean isFlooded;

    ConnectionSocket(SocketChannel socket) throws IOException {
        this.socket = socket;
        socket.configureBlocking(false);
    }

    /**
     * Sends a few bytes, which fit the buffer of any socket. A full buffer means that the peer does
     * not read.
     */
    void send(ByteBuffer bytes) {
        try {
            int wanted = bytes.remaining();
            if (socket.write(bytes) != wanted) {
                throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the peer does not read the notifications");
            }
        } catch (IOException e) {
            throw PeerFailure.ended(e);
        }
    }

    /**
     * Wakes the peer up. If the socket is full, the peer has bytes to read and wakes up without
     * this byte. If the socket is closed, the peer needs no wake-up.
     */
    void call() {
        try {
            socket.write(call.clear());
        } catch (IOException e) {
            hasEnded = true;
        }
    }

    /**
     * Receives exactly {@code length} bytes.
     *
     * @throws RpcException with RPC_E_CALL_CANCELED if the thread is interrupted, with
     *     RPC_E_TIMEOUT after the deadline, or with RPC_E_DISCONNECTED if the peer closes the
     *     socket
     */
    ByteBuffer receive(int length, Deadline deadline) {
        while (got.remaining() < length) {
            if (!fill() && !hasEnded) {
                // The deadline is checked only if no bytes have arrived, so that a late thread
                // still receives bytes that arrived in time.
                deadline.check();
                if (Thread.currentThread().isInterrupted()) {
                    throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted");
                }
                nap(deadline.left());
            }
            if (hasEnded && got.remaining() < length) {
                throw PeerFailure.ended(null);
            }
        }
        ByteBuffer bytes = got.slice(got.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        got.position(got.position() + length);
        return bytes;
    }

    /**
     * Consumes wake-ups, and returns the next byte that is no wake-up. Returns -1 if no such byte
     * has arrived, or if {@link #LOOKS} reads found only wake-ups.
     */
    int next() {
        if (isFlooded) {
            throw PeerFailure.broken("it sent an unexpected notification");
        }
        int left = LOOKS;
        do {
            while (got.hasRemaining()) {
                byte next = got.get();
                if (next != CALL) {
                    return next & 0xff;
                }
            }
        } while (left-- > 0 && fill());
        return -1;
    }

    /** Reads from the socket. Returns whether any bytes were read. */
    private boolean fill() {
        if (hasEnded) {
            return false;
        }
        try {
            got.compact();
            int count = socket.read(got);
            got.flip();
            hasEnded = count < 0;
            return count > 0;
        } catch (IOException e) {
            got.flip();
            hasEnded = true;
            return false;
        }
    }

    /** Whether the peer had closed the socket at the last read. */
    boolean hasEnded() {
        return hasEnded;
    }

    /** Consumes wake-ups and checks whether the peer has closed the socket. */
    void look() {
        int left = LOOKS;
        do {
            while (got.hasRemaining() && got.get(got.position()) == CALL) {
                got.get();
            }
            if (got.remaining() == got.capacity()) {
                // Valid messages are shorter. The bytes are dropped, because otherwise this side
                // could not see the end of the stream, which follows them.
                got.position(got.limit());
                isFlooded = true;
            }
        } while (--left > 0 && fill());
    }

    /**
     * Sleeps until bytes arrive, {@link #wake} is called, or {@code nanos} nanoseconds have passed.
     */
    void nap(long nanos) {
        try {
            if (Thread.currentThread().isVirtual()) {
                virtual = Thread.currentThread();
                poller().park(socket, nanos);
                return;
            }
            virtual = null;
            if (selector == null) {
                open();
            }
            // The timeout of a selector is in milliseconds; 0 means no timeout.
            selector.select(key -> {}, Math.max(1, nanos / 1_000_000));
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "waiting for a peer: " + e, e);
        } catch (RuntimeException e) {
            hasEnded = true;
        }
    }

    /** Ends the use of the connection by the thread that slept on the socket. */
    synchronized void leave() {
        virtual = null;
        Resources.close(selector);
        selector = null;
    }

    /**
     * Whether the poller runs, so that {@link #watch} can be called. Starts the poller if possible.
     */
    boolean isWatchable() {
        try {
            poller();
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /** Calls {@code then} when the peer rings the doorbell or closes the socket. */
    void watch(Runnable then) throws IOException {
        poller().watch(socket, then);
    }

    private Poller poller() throws IOException {
        Poller poller = Poller.instance();
        isPolled = true;
        return poller;
    }

    private synchronized void open() throws IOException {
        Selector opened = Selector.open();
        try {
            socket.register(opened, SelectionKey.OP_READ);
            selector = opened;
        } finally {
            if (selector != opened) {
                Resources.close(opened);
            }
        }
    }

    /** Ends the sleep of another thread, or the next sleep if no thread sleeps. */
    synchronized void wake() {
        LockSupport.unpark(virtual);
        if (selector != null) {
            selector.wakeup();
        }
    }

    @Override
    public synchronized void close() {
        Resources.close(socket);
        Resources.close(selector);
        if (isPolled) {
            Poller.release();
        }
    }
}
