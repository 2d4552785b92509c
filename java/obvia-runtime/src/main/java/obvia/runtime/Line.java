package obvia.runtime;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.LockSupport;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The socket beside a connection: what introduces the two sides, what a thread sleeps on, and what tells that the peer is gone.
 *
 * <p>One thread uses it, but for {@link #wake} and {@link #close}.
 */
final class Line implements AutoCloseable {
    /** A byte that ends a sleep. */
    static final byte CALL = 0;
    /** How often what has come is taken in one look. */
    private static final int LOOKS = 64;

    private final SocketChannel socket;
    private final ByteBuffer got = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN).flip();
    private final ByteBuffer call = ByteBuffer.allocate(1);
    private Selector selector;
    /** The virtual thread that slept last, if it was one. */
    private volatile Thread virtual;
    private boolean hasEnded;
    private boolean isFlooded;

    Line(SocketChannel socket) throws IOException {
        this.socket = socket;
        socket.configureBlocking(false);
    }

    /** Sends a few bytes. They fit any socket's buffer, so a full one is a peer that does not read. */
    void send(ByteBuffer bytes) {
        try {
            int wanted = bytes.remaining();
            if (socket.write(bytes) != wanted) {
                throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the peer does not read what it is told");
            }
        } catch (IOException e) {
            throw gone(e);
        }
    }

    /** Ends the peer's sleep. A socket without room is readable at the other end, and one that is gone needs nothing. */
    void call() {
        try {
            socket.write(call.clear());
        } catch (IOException e) {
            hasEnded = true;
        }
    }

    /** Receives exactly so many bytes. */
    ByteBuffer receive(int length, Deadline deadline) {
        while (got.remaining() < length) {
            if (!fill() && !hasEnded) {
                // What came meanwhile counts, however late this thread is.
                deadline.check();
                nap(deadline.left());
            }
            if (hasEnded && got.remaining() < length) {
                throw gone(null);
            }
        }
        ByteBuffer bytes = got.slice(got.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        got.position(got.position() + length);
        return bytes;
    }

    /** Takes away calls, and returns the next byte that is none, or -1 where nothing else is there. */
    int next() {
        if (isFlooded) {
            throw broken("it has told what nobody asked for");
        }
        while (true) {
            while (got.hasRemaining()) {
                byte next = got.get();
                if (next != CALL) {
                    return next & 0xff;
                }
            }
            if (!fill()) {
                return -1;
            }
        }
    }

    /** Takes what has come. Whether there was something. */
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

    /** Whether the peer has hung up, as far as this side has looked. */
    boolean hasEnded() {
        return hasEnded;
    }

    /** Takes away calls, and looks whether the peer has hung up. */
    void look() {
        int left = LOOKS;
        do {
            while (got.hasRemaining() && got.get(got.position()) == CALL) {
                got.get();
            }
            if (got.remaining() == got.capacity()) {
                // All that is ever told is shorter. It is taken away, too, or the end would not be seen behind it.
                got.position(got.limit());
                isFlooded = true;
            }
        } while (--left > 0 && fill());
    }

    /** Sleeps until something comes, {@link #wake} is called, or so many nanoseconds have passed. */
    void nap(long nanos) {
        try {
            if (Thread.currentThread().isVirtual()) {
                virtual = Thread.currentThread();
                Poller.instance().park(socket, nanos);
                return;
            }
            virtual = null;
            if (selector == null) {
                open();
            }
            // A selector counts milliseconds, and takes 0 for no end.
            selector.select(key -> {}, Math.max(1, nanos / 1_000_000));
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "waiting for a peer: " + e, e);
        } catch (RuntimeException e) {
            hasEnded = true;
        }
    }

    /** The thread that slept here does so no longer. */
    synchronized void leave() {
        virtual = null;
        Directory.close(selector);
        selector = null;
    }

    /** Has something done once the peer rings or hangs up. */
    void watch(Runnable then) throws IOException {
        Poller.instance().watch(socket, then);
    }

    private synchronized void open() throws IOException {
        Selector opened = Selector.open();
        socket.register(opened, SelectionKey.OP_READ);
        selector = opened;
    }

    /** Ends a sleep from another thread; the next one, where none sleeps. */
    synchronized void wake() {
        LockSupport.unpark(virtual);
        if (selector != null) {
            selector.wakeup();
        }
    }

    static RpcException gone(IOException why) {
        return RpcException.of(Hresult.RPC_E_DISCONNECTED, "the peer has ended", why);
    }

    static BadMessageException broken(String what) {
        return new BadMessageException("the peer broke the rules of the connection: " + what);
    }

    @Override
    public synchronized void close() {
        Directory.close(socket);
        Directory.close(selector);
    }
}
