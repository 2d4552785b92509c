package obvia.runtime;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.Waiting;

/**
 * A connection as messages are passed through it: slots in this side's segment, and in the peer's.
 *
 * <p>One thread uses it, but for {@link #interrupt} and {@link #close}. What comes is loaded once, checked, and then used; memory that a peer writes is never outside
 * of a segment's bounds, whatever it says.
 */
final class Window implements AutoCloseable {
    static final int REQUEST = 1;
    static final int RESPONSE = 2;
    static final int FAULT = 3;
    static final int ONEWAY = 4;
    static final int PDU = 5;
    static final int CANCEL = 6;

    /** Sleeps are cut into pieces of so many nanoseconds. */
    private static final long NAP = 250_000_000;
    /** Looks at a slot between two looks at everything else. */
    private static final int POLLS_BETWEEN_LOOKS = 1 << 14;
    /** Looks that a virtual thread makes: about a microsecond. */
    private static final int POLLS_OF_VIRTUAL = 32;
    /** The area that frames use before they need more. */
    private static final long AREA_FIRST = 256 << 10;
    /** So much of an area is not worth making another connection for. */
    private static final long AREA_LITTLE = 16 << 10;

    private static final int RUNG = 1;
    private static final int CLOSED = 2;

    private final Line line;
    private final Segments segments;
    private final Notes notes;
    private final MemorySegment own;
    private final MemorySegment peer;
    private final Room room;
    private final boolean peerMaySleep;
    private final Polls polls;
    private final AtomicInteger state = new AtomicInteger();

    // Sending: the number of the next message, and of the last one that the peer has taken.
    private int next = 1;
    private int taken;
    // The place of the next frame in the area, where that ends for now, and the last message with a frame there.
    private long cursor = Layout.AREA;
    private long end = Layout.AREA + AREA_FIRST;
    private int lastInArea;
    private long placed;
    private int bell;

    // Receiving: the number of the next message, and the peer's area.
    private int expected = 1;
    private MemorySegment area;
    private int areaNumber;
    private Arena areaArena;
    private boolean hasUsedArea;
    private Duration patience;

    // The message that was received last: its first two words, and where its frame lies.
    private long first;
    private long second;
    MemorySegment frame;
    long at;
    int length;

    private Window(Line line, Segments segments, Waiting waiting) {
        this.line = line;
        this.segments = segments;
        notes = new Notes(line, segments.pid());
        own = segments.own();
        peer = segments.peer();
        room = segments.room();
        peerMaySleep = segments.peerMaySleep();
        frame = peer;
        polls = new Polls(waiting);
    }

    /** Connects to the server of a name. */
    static Window connect(Directory directory, String name, Waiting waiting, boolean isQuiet, Deadline deadline) {
        return over(directory.connect(name, deadline), line -> {
            Segments segments = Segments.request(line, waiting, isQuiet, deadline);
            return new Window(line, segments, waiting);
        });
    }

    /** Greets a client that has connected. */
    static Window accept(SocketChannel socket, Waiting waiting, Deadline deadline) {
        return over(socket, line -> {
            Segments segments = Segments.accept(line, waiting, deadline);
            return new Window(line, segments, segments.peerIsQuiet() ? Waiting.BLOCK : waiting);
        });
    }

    private interface Greet {
        Window greet(Line line);
    }

    private static Window over(SocketChannel socket, Greet greet) {
        Window window = null;
        Line line = null;
        try {
            line = new Line(socket);
            window = greet.greet(line);
            return window;
        } catch (IOException e) {
            throw RpcException.of(Hresult.E_FAIL, "greeting a peer: " + e, e);
        } finally {
            if (window == null) {
                Directory.close(line);
                Directory.close(socket);
            }
        }
    }

    /** The peer's process as it says; -1 where it does not. */
    long pid() {
        return segments.pid();
    }

    // Regions.

    /** Whether the peer takes memory of this process. */
    boolean takesRegions() {
        return segments.peerIsInJava();
    }

    /** Names a region of this process to the peer, who takes it with the call that says so. */
    void name(int number, OwnRegion region) {
        Notes.send(line, number, region);
    }

    /** The region that the peer has named by this number. */
    Notes.Note region(int number) {
        return notes.take(number, false);
    }

    // Sending.

    /** The own segment: frames are written there. */
    MemorySegment memory() {
        return own;
    }

    /** The number that the next message will have: the call id of a request. */
    int nextSequence() {
        return next;
    }

    /** The peer has taken every message up to this one, because it answered that. */
    void takenThrough(int sequence) {
        taken = sequence;
    }

    /** The peer has taken every message, because it sent one that it only sends then. */
    void takenAll() {
        taken = next - 1;
    }

    /**
     * The place of the next message's frame in {@link #memory}: in its slot where it fits, else in the area.
     *
     * @throws RpcException when the peer takes no messages by the deadline, is gone, or the frame is longer than can be sent
     */
    long place(int length) {
        if (next - taken > Layout.SLOT_COUNT) {
            awaitCredit(false, 0);
        }
        return placed = length <= Layout.INLINE_MAX ? Layout.slot(next) + Layout.SLOT_FRAME : placeInArea(length);
    }

    private long placeInArea(long length) {
        long needed = length + Layout.LINE;
        if (needed > Segments.AREA_MAX) {
            throw RpcException.of(Hresult.E_OUTOFMEMORY, "a frame of " + length + " bytes; " + Segments.AREA_MAX + " is the most");
        }
        if (Layout.AREA + needed > end) {
            awaitCredit(true, lastInArea);
            end = Layout.AREA + Math.min(Segments.AREA_MAX, Math.max(2 * (end - Layout.AREA), Long.highestOneBit(needed) * 2));
            cursor = Layout.AREA;
        }
        if (cursor + length > end) {
            awaitCredit(true, lastInArea);
            cursor = Layout.AREA;
        }
        if (room != null) {
            room.take(cursor + length);
        }
        hasUsedArea |= cursor + length > Layout.AREA + AREA_LITTLE;
        return cursor;
    }

    /**
     * Writes to the next message's slot, which has to be free, so that its line is on its way here while the message is made.
     */
    void claim() {
        own.set(Flat.LONG, Layout.slot(next) + Layout.SLOT_FRAME, 0);
    }

    /** Publishes the frame whose place was asked for last, or its first so many bytes. */
    void publish(int kind, int opnum, long target, int length) {
        int sequence = next;
        long slot = Layout.slot(sequence);
        int inline = length;
        if (placed != slot + Layout.SLOT_FRAME) {
            inline = Layout.IN_AREA;
            own.set(Flat.INT, slot + 16, 0);
            own.set(Flat.INT, slot + 20, (int) (placed - Layout.AREA));
            own.set(Flat.INT, slot + 24, length);
            cursor = Math.min(end, placed + length + Layout.LINE - 1 & -Layout.LINE);
            lastInArea = sequence;
        }
        own.set(Flat.LONG, slot + 8, target);
        long leading = sequence & 0xffff_ffffL | (long) opnum << 32 | (long) kind << 48 | (long) inline << 56;
        Layout.LONG_WORD.setRelease(own, slot, leading);
        next = sequence + 1;
        if (peerMaySleep) {
            ring();
        }
    }

    private void ring() {
        // Publish before look: pairs with the fence of who goes to sleep.
        VarHandle.fullFence();
        if ((int) Layout.WORD.getOpaque(peer, Layout.SLEEP) != 0) {
            Layout.WORD.setRelease(own, Layout.BELL, ++bell);
            line.call();
        }
    }

    /** Waits until the peer has taken a message of the area's, or any so that there is a slot. */
    private void awaitCredit(boolean isArea, int message) {
        Deadline deadline = Deadline.ofCall();
        while (isArea ? taken - message < 0 : next - taken > Layout.SLOT_COUNT) {
            int consumed = (int) Layout.WORD.getAcquire(peer, Layout.CONSUMED);
            // Only a count between what is known and what was sent is true; a smaller one lags behind responses.
            if (consumed - taken > 0) {
                if (consumed - (next - 1) > 0) {
                    throw Line.broken("it says that it has taken what was never sent");
                }
                taken = consumed;
                continue;
            }
            line.look();
            check();
            deadline.check();
            LockSupport.parkNanos(50_000);
        }
    }

    /** Tells the peer that nobody waits for a call any more, if that takes no waiting. */
    void cancel(int callId) {
        int consumed = (int) Layout.WORD.getAcquire(peer, Layout.CONSUMED);
        if (consumed - taken > 0 && consumed - (next - 1) <= 0) {
            taken = consumed;
        }
        if (next - taken <= Layout.SLOT_COUNT) {
            place(0);
            publish(CANCEL, 0, (long) callId << 32, 0);
        }
    }

    // Receiving.

    /** What the message is. */
    int kind() {
        return (int) (first >>> 48) & 0xff;
    }

    int opnum() {
        return (int) (first >>> 32) & 0xffff;
    }

    /** Its number: the call id of a request. */
    int sequence() {
        return (int) first;
    }

    /** The second word of its header: the target of a request; of an answer the status, and above it the call id. */
    long target() {
        return second;
    }

    /**
     * Waits for the next message.
     *
     * @param deadline when to give up; {@code null} for the usual one, which is asked for only where the message is not there soon
     */
    void receive(Deadline deadline) {
        // A look at the slot takes its line away from the peer, who then waits for it when it writes. No answer is there as soon as the question
        // is out, so the first look comes a little later.
        if (polls.isPatient()) {
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
            // Storing a reference takes a fence where the collector has to know of it, and mostly it is there already.
            if (frame != peer) {
                frame = peer;
            }
            at = slot + Layout.SLOT_FRAME;
            length = inline;
        } else {
            findInArea(slot + Layout.SLOT_FRAME, inline);
        }
    }

    private void findInArea(long note, int inline) {
        if (inline != Layout.IN_AREA) {
            throw Line.broken("a slot with a frame of " + inline + " bytes");
        }
        int number = peer.get(Flat.INT, note);
        long offset = Integer.toUnsignedLong(peer.get(Flat.INT, note + 4));
        long bytes = Integer.toUnsignedLong(peer.get(Flat.INT, note + 8));
        if (number != areaNumber) {
            changeArea(number);
        }
        hasUsedArea |= offset + bytes > AREA_LITTLE;
        long base = areaNumber == 0 ? Layout.AREA : 0;
        MemorySegment memory = areaNumber == 0 ? peer : area;
        if (offset % 8 != 0 || bytes > Segments.AREA_MAX || base + offset + bytes > memory.byteSize()) {
            throw Line.broken("a frame of " + bytes + " bytes at " + offset + " of its area");
        }
        frame = memory;
        at = base + offset;
        length = (int) bytes;
    }

    /** The peer has made a larger area, whose name comes on the socket. */
    private void changeArea(int number) {
        Notes.Note note = notes.take(number, true);
        Arena arena = Arena.ofShared();
        boolean isDone = false;
        try {
            area = Segments.area(arena, note);
            isDone = true;
        } finally {
            Directory.close(isDone ? areaArena : arena);
        }
        // What lay in the one before has been taken.
        areaArena = arena;
        areaNumber = number;
    }

    /** Whether frames have taken more than a few pages of the areas, which are kept as long as the connection. */
    boolean hasUsedArea() {
        return hasUsedArea;
    }

    /** Tells the peer that every message received so far has been taken. A response says the same. */
    void release() {
        Layout.WORD.setRelease(own, Layout.CONSUMED, expected - 1);
    }

    private long await(long slot, Deadline given) {
        Deadline deadline = given;
        // A virtual thread that looks again and again keeps others from its carrier.
        int left = Thread.currentThread().isVirtual() ? POLLS_OF_VIRTUAL : polls.begin();
        while (left > 0) {
            int round = Math.min(left, POLLS_BETWEEN_LOOKS);
            for (int poll = 0; poll < round; poll++) {
                Thread.onSpinWait();
                long leading = (long) Layout.LONG_WORD.getAcquire(peer, slot);
                if ((int) leading == expected) {
                    polls.paid();
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
            polls.slept(System.nanoTime() - began);
        }
    }

    private Deadline usual() {
        return patience == null ? Deadline.ofCall() : Deadline.in(patience);
    }

    /** Sets how long to wait for a message where nobody says otherwise; that of a call if nobody ever has. */
    void setPatience(Duration patience) {
        this.patience = patience;
    }

    /** What ends a wait besides a message. The last message of a peer that has ended still counts. */
    private void lookAround(Deadline deadline) {
        line.look();
        if (!isHere()) {
            check();
            deadline.check();
        }
    }

    private void check() {
        int why = state.get();
        if ((why & CLOSED) != 0 || line.hasEnded()) {
            throw Line.gone(null);
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
                // Flag before look: pairs with the fence of who publishes.
                VarHandle.fullFence();
                long leading = (long) Layout.LONG_WORD.getAcquire(peer, slot);
                if ((int) leading == expected) {
                    return leading;
                }
                lookAround(deadline);
                if (isHere()) {
                    // The call that came with it is taken away: nothing would end the nap.
                    continue;
                }
                line.nap(Math.min(NAP, deadline.left()));
            }
        } finally {
            Layout.WORD.setOpaque(own, Layout.SLEEP, 0);
        }
    }

    // Resting.

    /** Has the peer ring when it sends. Whether there is nothing to do until then: the thread need not stay. */
    boolean rest() {
        if (polls.isEndless()) {
            return false;
        }
        Layout.WORD.setOpaque(own, Layout.SLEEP, 1);
        // Flag before look: pairs with the fence of who publishes.
        VarHandle.fullFence();
        line.look();
        if (isHere() || line.hasEnded()) {
            rise();
            return false;
        }
        line.leave();
        return true;
    }

    private boolean isHere() {
        return (int) (long) Layout.LONG_WORD.getAcquire(peer, Layout.slot(expected)) == expected;
    }

    /** Has something done once the peer rings or hangs up, after {@link #rest}: from now on the window is whose thread does it. */
    void watch(Runnable then) throws IOException {
        line.watch(then);
    }

    /** Ends a rest. */
    void rise() {
        Layout.WORD.setOpaque(own, Layout.SLEEP, 0);
    }

    /** Ends the current wait, or the next one, with RPC_E_CALL_CANCELED. */
    void interrupt() {
        state.getAndAccumulate(RUNG, (now, bit) -> now | bit);
        line.wake();
    }

    /** Whether the connection has ended. */
    boolean isClosed() {
        if (!line.hasEnded() && (state.get() & CLOSED) == 0) {
            line.look();
        }
        return line.hasEnded() || (state.get() & CLOSED) != 0;
    }

    /** Whether the peer no longer waits for an answer: it has ended, or says so by its next message. */
    boolean isGivenUp() {
        try {
            long leading = (long) Layout.LONG_WORD.getAcquire(peer, Layout.slot(expected));
            boolean isCancel = (int) leading == expected && ((int) (leading >>> 48) & 0xff) == CANCEL;
            return isCancel || isClosed();
        } catch (InternalError | IllegalStateException e) {
            // Its memory is gone, or this side has closed it.
            return true;
        }
    }

    /** Ends the connection: the peer learns at once. */
    @Override
    public void close() {
        int before = state.getAndAccumulate(CLOSED, (now, bit) -> now | bit);
        line.close();
        if ((before & CLOSED) == 0) {
            segments.arena().close();
            Directory.close(room);
            Directory.close(areaArena);
        }
    }

    /** What access to memory throws where the peer has cut it short, or this side has closed it. */
    static RpcException failed(Throwable why) {
        if (why instanceof RpcException known) {
            return known;
        }
        if (why instanceof IllegalStateException) {
            return Line.gone(null);
        }
        return new BadMessageException("the peer broke the rules of the connection: its memory is gone", why);
    }
}
