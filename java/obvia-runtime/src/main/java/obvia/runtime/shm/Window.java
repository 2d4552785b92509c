package obvia.runtime.shm;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;
import obvia.runtime.Flat;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.FrameLimit;
import obvia.runtime.call.PeerFailure;

/**
 * The message window of a connection: slots in this side's segment and in the peer's.
 *
 * <p>One thread at a time uses the window, except for {@link #interrupt} and {@link #close}.
 * Received words are loaded once, checked, and then used. No data that the peer writes can lead to
 * an access outside of the peer's segment.
 */
public final class Window extends WindowSender implements AutoCloseable {
    /** The maximum length of one sleep, in nanoseconds. */
    private static final long NAP = 250_000_000;
    /** The number of polls of a slot between two checks of the other conditions that end a wait. */
    private static final int POLLS_BETWEEN_LOOKS = 1 << 14;
    /** The number of polls of a virtual thread: about a microsecond. */
    private static final int POLLS_OF_VIRTUAL = 32;

    /**
     * The maximum length of a PDU in bytes: the header has 16 bits for the length (C706 12.6.3.1).
     */
    static final int UNIT_MAX = 0xffff;

    private static final int RUNG = 1;
    private static final int CLOSED = 2;

    private final Segments segments;
    private final AnnouncedFiles announcedFiles;
    private final boolean isClientOwnUser;
    private final Mappings mappings;
    private final PollBudget pollBudget;
    private final AtomicInteger state = new AtomicInteger();

    // The number of the next message, and the peer's area.
    private int expected = 1;
    private MemorySegment area;
    private int areaNumber;
    /** Volatile because another thread may close the window. */
    private volatile Arena areaArena;
    private boolean isMessageLost;
    private Duration timeout;

    // The message that was received last: its first two words, and the place of its frame.
    private long first;
    private long second;

    /** The memory of the frame that was received last. */
    public MemorySegment frame;

    /** The offset of the frame in its memory. */
    public long at;

    /** The length of the frame in bytes. */
    public int length;

    private Window(ConnectionSocket connection, Segments segments, Waiting waiting, boolean isClientOwnUser, Mappings mappings) {
        super(connection, segments);
        this.mappings = mappings;
        this.segments = segments;
        this.isClientOwnUser = isClientOwnUser;
        announcedFiles = new AnnouncedFiles(connection, segments.pid());
        frame = peer;
        pollBudget = new PollBudget(waiting);
    }

    /** Connects to the server of a name. If {@code isQuiet}, this side will seldom send. */
    public static Window connect(String name, Waiting waiting, boolean isQuiet, Deadline deadline) {
        Mappings mappings = Mappings.OF_CALLS;
        return over(Directory.own().connect(name, deadline), connection -> {
            mappings.take(Mappings.PER_CONNECTION);
            return counted(mappings, () -> {
                Segments segments = Segments.request(connection, waiting, isQuiet, deadline);
                return new Window(connection, segments, waiting, false, mappings);
            });
        });
    }

    /** Verifies the user of a client that has connected, and performs the greeting with it. */
    public static Window accept(SocketChannel socket, Waiting waiting, Deadline deadline) {
        return accept(socket, Mappings.OF_CLIENTS, waiting, deadline);
    }

    static Window accept(SocketChannel socket, Mappings mappings, Waiting waiting, Deadline deadline) {
        return over(socket, connection -> {
            boolean isClientOwnUser = Directory.own().checkPeer(socket);
            try {
                mappings.take(Mappings.PER_CONNECTION);
            } catch (RpcException e) {
                Segments.refuse(connection);
                throw e;
            }
            return counted(mappings, () -> {
                Segments segments = Segments.accept(connection, waiting, deadline);
                return new Window(connection, segments, segments.peerIsQuiet() ? Waiting.BLOCK : waiting, isClientOwnUser, mappings);
            });
        });
    }

    /** Runs {@code greet}. If it fails, gives the connection's mappings back. */
    private static Window counted(Mappings mappings, Supplier<Window> greet) {
        Window window = null;
        try {
            window = greet.get();
            return window;
        } finally {
            if (window == null) {
                mappings.giveBack(Mappings.PER_CONNECTION);
            }
        }
    }

    private interface Greet {
        Window greet(ConnectionSocket connection) throws IOException;
    }

    private static Window over(SocketChannel socket, Greet greet) {
        Window window = null;
        ConnectionSocket connection = null;
        try {
            connection = new ConnectionSocket(socket);
            window = greet.greet(connection);
            return window;
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "greeting a peer: " + e, e);
        } catch (InternalError e) {
            // The peer has truncated a segment.
            throw PeerFailure.of(e);
        } finally {
            if (window == null) {
                Resources.close(connection);
                Resources.close(socket);
            }
        }
    }

    /** Returns the process ID that the peer claims; -1 if it claims none. */
    public long pid() {
        return segments.pid();
    }

    /** Returns the connection's mark, a number that only the two sides know. */
    public long mark() {
        return segments.mark();
    }

    /**
     * Whether the client is a process of this process's user; false on a connection that this
     * process opened.
     */
    public boolean isClientOwnUser() {
        return isClientOwnUser;
    }

    // Regions.

    /** Whether the peer accepts memory of this process. */
    public boolean takesRegions() {
        return segments.peerIsInJava();
    }

    /**
     * Announces a region of this process to the peer. The peer maps the region on the subsequent
     * call.
     */
    public void announce(int number, OwnRegion region) {
        AnnouncedFiles.send(connection, number, region);
    }

    /** Returns the region that the peer has announced under this number. */
    AnnouncedFiles.AnnouncedFile region(int number) {
        return announcedFiles.take(number, false);
    }

    /** Returns the kind of the message. */
    public int kind() {
        return (int) (first >>> 48) & 0xff;
    }

    /** Returns the opnum of the message. */
    public int opnum() {
        return (int) (first >>> 32) & 0xffff;
    }

    /** Returns the number of the message: the call ID of a request. */
    public int sequence() {
        return (int) first;
    }

    /**
     * Returns the second word of the header: the target of a request, or for an answer the status
     * in the lower half and the call ID in the upper half.
     */
    public long target() {
        return second;
    }

    /**
     * Waits for the next message.
     *
     * @param deadline the deadline; {@code null} for the default deadline, which is only computed
     *     if the message does not arrive soon
     */
    public void receive(Deadline deadline) {
        // A poll of the slot takes its cache line away from the peer, and the peer's next write
        // then waits for the line. No answer arrives immediately, so the first poll is delayed a
        // little.
        if (pollBudget.isPatient()) {
            Thread.onSpinWait();
            Thread.onSpinWait();
        }
        long slot = Layout.slot(expected);
        long leading = (long) Layout.LONG_WORD.getAcquire(peer, slot);
        if ((int) leading != expected) {
            leading = await(slot, deadline);
        }
        first = leading;
        second = peer.get(Flat.LONG, slot + 8);
        expected++;
        int inline = (int) (leading >>> 56);
        if (inline <= Layout.INLINE_MAX) {
            // The reference usually stays the same, and storing it costs a write barrier of the
            // collector.
            if (frame != peer) {
                frame = peer;
            }
            at = slot + Layout.SLOT_FRAME;
            length = inline;
        } else {
            findInArea(slot + Layout.SLOT_FRAME, inline);
        }
    }

    /** Returns a copy of the frame of the message that was received last. */
    public byte[] bytes() {
        return frame.asSlice(at, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * Returns a copy of the PDU that was received last. The length is checked before the copy,
     * because a peer can send a long frame without having the memory for it.
     *
     * @throws BadMessageException if the PDU is longer than its header can express
     */
    public byte[] unit() {
        if (length > UNIT_MAX) {
            throw PeerFailure.broken("a protocol data unit of " + length + " bytes is longer than " + UNIT_MAX);
        }
        return bytes();
    }

    private void findInArea(long announced, int inline) {
        if (inline != Layout.IN_AREA) {
            throw PeerFailure.broken("an in-line frame of " + inline + " bytes does not fit a slot");
        }
        int number = peer.get(Flat.INT, announced);
        long offset = Integer.toUnsignedLong(peer.get(Flat.INT, announced + 4));
        long bytes = Integer.toUnsignedLong(peer.get(Flat.INT, announced + 8));
        if (number != areaNumber) {
            changeArea(number);
        }
        hasUsedArea |= offset + bytes > AREA_LITTLE;
        long base = areaNumber == 0 ? Layout.AREA : 0;
        MemorySegment memory = areaNumber == 0 ? peer : area;
        if (offset % 8 != 0 || bytes > FrameLimit.BYTES || base + offset + bytes > memory.byteSize()) {
            throw PeerFailure.broken("a frame of " + bytes + " bytes at offset " + offset + " lies outside its area");
        }
        frame = memory;
        at = base + offset;
        length = (int) bytes;
    }

    /** Maps a larger area that the peer has created and announced on the socket. */
    private void changeArea(int number) {
        isMessageLost = true;
        AnnouncedFiles.AnnouncedFile announced = announcedFiles.take(number, true);
        Arena arena = Arena.ofShared();
        boolean isDone = false;
        try {
            area = Segments.area(arena, announced);
            isDone = true;
        } finally {
            Resources.close(isDone ? areaArena : arena);
        }
        // All frames in the previous area have been consumed.
        areaArena = arena;
        areaNumber = number;
        if ((state.get() & CLOSED) != 0) {
            // Another thread has closed the window, perhaps without this area's arena.
            Resources.close(arena);
            throw PeerFailure.ended(null);
        }
        isMessageLost = false;
    }

    /** Whether a message was lost, because its memory could not be mapped. */
    public boolean isMessageLost() {
        return isMessageLost;
    }

    /**
     * Tells the peer that all received messages have been consumed. A response tells the peer this,
     * too.
     */
    public void release() {
        Layout.WORD.setRelease(own, Layout.CONSUMED, expected - 1);
    }

    private long await(long slot, Deadline given) {
        Deadline deadline = given;
        // A polling virtual thread occupies its carrier.
        int left = Thread.currentThread().isVirtual() ? POLLS_OF_VIRTUAL : pollBudget.begin();
        while (left > 0) {
            int round = Math.min(left, POLLS_BETWEEN_LOOKS);
            for (int poll = 0; poll < round; poll++) {
                Thread.onSpinWait();
                long leading = (long) Layout.LONG_WORD.getAcquire(peer, slot);
                if ((int) leading == expected) {
                    pollBudget.paid();
                    return leading;
                }
            }
            left -= left == Integer.MAX_VALUE ? 0 : round;
            if (round == POLLS_BETWEEN_LOOKS) {
                deadline = deadline == null ? usual() : deadline;
                lookAround(deadline);
            }
        }
        long began = System.nanoTime();
        try {
            return sleep(slot, deadline == null ? usual() : deadline);
        } finally {
            pollBudget.slept(System.nanoTime() - began);
        }
    }

    private Deadline usual() {
        return timeout == null ? CallContext.currentDeadline() : Deadline.in(timeout);
    }

    /** Sets the default time limit for a message, in place of the deadline of calls. */
    public void setTimeout(Duration timeout) {
        this.timeout = timeout;
    }

    /**
     * Checks the conditions that end a wait without a message. If a message has arrived, none of
     * them ends the wait: the last message of a peer that has ended is still received.
     */
    private void lookAround(Deadline deadline) {
        connection.look();
        if (!isHere()) {
            check();
            deadline.check();
        }
    }

    @Override
    void check() {
        int why = state.get();
        if ((why & CLOSED) != 0 || connection.hasEnded()) {
            throw PeerFailure.ended(null);
        }
        if ((why & RUNG) != 0) {
            state.getAndAccumulate(~RUNG, (now, mask) -> now & mask);
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the wait was interrupted");
        }
        if (Thread.currentThread().isInterrupted()) {
            throw RpcException.of(Hresult.RPC_E_CALL_CANCELED, "the thread was interrupted");
        }
    }

    private long sleep(long slot, Deadline deadline) {
        try {
            while (true) {
                Layout.WORD.setOpaque(own, Layout.SLEEP, 1);
                // The flag is set before the slot is read. The fence pairs with the fence in
                // `ring`.
                VarHandle.fullFence();
                long leading = (long) Layout.LONG_WORD.getAcquire(peer, slot);
                if ((int) leading == expected) {
                    return leading;
                }
                lookAround(deadline);
                if (isHere()) {
                    // The wake-up that came with the message is already consumed, so a sleep would
                    // last until its limit.
                    continue;
                }
                connection.nap(Math.min(NAP, deadline.left()));
            }
        } finally {
            Layout.WORD.setOpaque(own, Layout.SLEEP, 0);
        }
    }

    // Resting.

    /**
     * Requests a wake-up for the peer's next message. Returns true if no message has arrived, so
     * that the thread can end.
     */
    public boolean rest() {
        if (pollBudget.isEndless()) {
            return false;
        }
        Layout.WORD.setOpaque(own, Layout.SLEEP, 1);
        // The flag is set before the slot is read. The fence pairs with the fence in `ring`.
        VarHandle.fullFence();
        connection.look();
        if (isHere() || connection.hasEnded() || !connection.isWatchable()) {
            rise();
            return false;
        }
        connection.leave();
        return true;
    }

    private boolean isHere() {
        return (int) (long) Layout.LONG_WORD.getAcquire(peer, Layout.slot(expected)) == expected;
    }

    /**
     * Calls {@code then} when the peer rings the doorbell or closes the socket, after
     * {@link #rest}. From now on the window belongs to the thread that runs the action.
     */
    public void watch(Runnable then) throws IOException {
        connection.watch(then);
    }

    /** Ends the rest that {@link #rest} has begun. */
    public void rise() {
        Layout.WORD.setOpaque(own, Layout.SLEEP, 0);
    }

    /** Ends the current wait, or the next wait, with RPC_E_CALL_CANCELED. */
    void interrupt() {
        state.getAndAccumulate(RUNG, (now, bit) -> now | bit);
        connection.wake();
    }

    /** Whether the connection has ended. */
    public boolean isClosed() {
        if (!isKnownClosed()) {
            connection.look();
        }
        return isKnownClosed();
    }

    /** Whether the connection had ended at the last check. Makes no system call. */
    public boolean isKnownClosed() {
        return connection.hasEnded() || (state.get() & CLOSED) != 0;
    }

    /** Whether the peer has given up the call: it has ended, or its next message is a cancel. */
    public boolean isGivenUp() {
        try {
            long leading = (long) Layout.LONG_WORD.getAcquire(peer, Layout.slot(expected));
            boolean isCancel = (int) leading == expected && ((int) (leading >>> 48) & 0xff) == CANCEL;
            return isCancel || isClosed();
        } catch (InternalError | IllegalStateException e) {
            // The peer's memory is gone, or this side has closed it.
            return true;
        }
    }

    /**
     * Whether the memory of the last messages still exists. If it does, a failed access was to
     * other memory, and the connection stays usable.
     */
    public boolean isWhole() {
        try {
            Layout.WORD.getAcquire(peer, Layout.AREA - 4);
            Layout.WORD.getAcquire(own, lastWord());
            Layout.WORD.getAcquire(frame, Math.max(0, at + length - 1) & -4);
            return true;
        } catch (InternalError | IllegalStateException e) {
            return false;
        }
    }

    /** Ends the connection, without an exception; the peer notices at once. */
    @Override
    public void close() {
        int before = state.getAndAccumulate(CLOSED, (now, bit) -> now | bit);
        connection.close();
        if ((before & CLOSED) == 0) {
            Resources.close(segments.arena());
            Resources.close(pages);
            Resources.close(areaArena);
            mappings.giveBack(Mappings.PER_CONNECTION);
        }
    }
}
