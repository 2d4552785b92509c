package obvia.runtime.shm;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import obvia.RpcException;
import obvia.runtime.Flat;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.FrameLimit;
import obvia.runtime.call.PeerFailure;

/** The sending half of a window: messages to the peer, and the credit for them. */
abstract class WindowSender {
    /** The kind of a request. */
    public static final int REQUEST = 1;
    /** The kind of a response. */
    public static final int RESPONSE = 2;
    /** The kind of a fault. */
    public static final int FAULT = 3;
    /** The kind of a request without response. */
    public static final int ONEWAY = 4;
    /** The kind of a PDU that binds. */
    public static final int PDU = 5;
    /** The kind of a message that cancels a call. */
    public static final int CANCEL = 6;

    /** The maximum length of a frame in a slot, in bytes. */
    public static final int INLINE_MAX = Layout.INLINE_MAX;

    /** The initial size of the area in bytes; frames use more only when necessary. */
    private static final long AREA_FIRST = 256 << 10;
    /**
     * The used size of an area, in bytes, above which an idle connection is closed earlier, to free
     * the area's memory.
     */
    static final long AREA_LITTLE = 16 << 10;

    final ConnectionSocket connection;
    final MemorySegment own;
    final MemorySegment peer;
    /** Whether frames have used more than a few pages of the areas. */
    boolean hasUsedArea;

    final PageAllocation pages;
    private final boolean peerMaySleep;

    // The number of the next message, and the number of the last message that the peer has
    // consumed.
    int next = 1;
    int taken;
    // The offset of the next frame in the area, the current end of the area, and the number of the
    // last message with a frame in the area.
    private long cursor = Layout.AREA;
    private long end = Layout.AREA + AREA_FIRST;
    private int lastInArea;
    private long placed;
    private int bell;

    WindowSender(ConnectionSocket connection, Segments segments) {
        this.connection = connection;
        own = segments.own();
        peer = segments.peer();
        pages = segments.pages();
        peerMaySleep = segments.peerMaySleep();
    }

    /** Throws an exception if the connection has ended or the thread must not wait any longer. */
    abstract void check();

    /** Returns this side's segment, into which frames are written. */
    public final MemorySegment memory() {
        return own;
    }

    /** Returns the number of the next message: the call ID of a request. */
    public final int nextSequence() {
        return next;
    }

    /**
     * Notes that the peer has consumed all messages up to the message {@code sequence}, because the
     * peer has answered that message.
     */
    public final void takenThrough(int sequence) {
        taken = sequence;
    }

    /** Notes that the peer has consumed all messages. The peer's latest message implies this. */
    public final void takenAll() {
        taken = next - 1;
    }

    /**
     * Returns the offset in {@link #memory} for the next message's frame: in the message's slot if
     * the frame fits, else in the area.
     *
     * @throws RpcException if the peer consumes no messages until the deadline, if the peer is
     *     gone, or if the frame is too long
     */
    public final long place(int length) {
        if (next - taken > Layout.SLOT_COUNT) {
            awaitCredit(false);
        }
        return placed = length <= Layout.INLINE_MAX ? Layout.slot(next) + Layout.SLOT_FRAME : placeInArea(length);
    }

    private long placeInArea(long length) {
        long needed = length + Layout.LINE;
        if (needed > FrameLimit.BYTES) {
            throw FrameLimit.exceeded(length);
        }
        if (Layout.AREA + needed > end) {
            awaitCredit(true);
            end = Layout.AREA + Math.min(FrameLimit.BYTES, Math.max(2 * (end - Layout.AREA), Long.highestOneBit(needed) * 2));
            cursor = Layout.AREA;
        }
        if (cursor + length > end) {
            awaitCredit(true);
            cursor = Layout.AREA;
        }
        if (pages != null) {
            pages.allocate(cursor + length);
        }
        hasUsedArea |= cursor + length > Layout.AREA + AREA_LITTLE;
        return cursor;
    }

    /**
     * Writes to the slot of the next message, so that the slot's cache line is fetched while the
     * message is prepared. The slot must be free.
     */
    public final void claim() {
        own.set(Flat.LONG, Layout.slot(next) + Layout.SLOT_FRAME, 0);
    }

    /** Publishes the frame that was placed last, or its first {@code length} bytes. */
    public final void publish(int kind, int opnum, long target, int length) {
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
        // The message is published before the sleep flag is read. The fence pairs with the fences
        // in `Window` between the setting of the flag and the reading of the slot.
        VarHandle.fullFence();
        if ((int) Layout.WORD.getOpaque(peer, Layout.SLEEP) != 0) {
            Layout.WORD.setRelease(own, Layout.BELL, ++bell);
            connection.call();
        }
    }

    /**
     * Whether the peer has yet to consume the last frame in the area: the frame's message comes
     * after {@link #taken} and before {@link #next}. The numbers wrap around, so this method
     * compares their distances from {@link #taken}.
     */
    private boolean isAreaInUse() {
        return Integer.compareUnsigned(lastInArea - taken - 1, next - taken - 1) < 0;
    }

    /**
     * If {@code isArea}, waits until the peer has consumed all frames in the area. Otherwise waits
     * until a slot is free.
     */
    private void awaitCredit(boolean isArea) {
        Deadline deadline = CallContext.currentDeadline();
        while (isArea ? isAreaInUse() : next - taken > Layout.SLOT_COUNT) {
            int consumed = (int) Layout.WORD.getAcquire(peer, Layout.CONSUMED);
            // A valid count lies between the known count and the number of sent messages. A smaller
            // count is outdated, because responses have confirmed later messages.
            if (consumed - taken > 0) {
                if (consumed - (next - 1) > 0) {
                    throw PeerFailure.broken("its credit word counts messages that were never sent");
                }
                taken = consumed;
                continue;
            }
            connection.look();
            check();
            deadline.check();
            LockSupport.parkNanos(50_000);
        }
    }

    /**
     * Tells the peer that the caller has given up a call, unless the message would have to wait for
     * credit.
     */
    public final void cancel(int callId) {
        int consumed = (int) Layout.WORD.getAcquire(peer, Layout.CONSUMED);
        if (consumed - taken > 0 && consumed - (next - 1) <= 0) {
            taken = consumed;
        }
        if (next - taken <= Layout.SLOT_COUNT) {
            place(0);
            publish(CANCEL, 0, (long) callId << 32, 0);
        }
    }

    /**
     * Whether frames have used more than a few pages of the areas. These pages are kept until the
     * connection ends.
     */
    public final boolean hasUsedArea() {
        return hasUsedArea;
    }

    /** Returns the offset of the last word of this side's segment that a frame can have used. */
    final long lastWord() {
        return (pages == null ? end : Math.max(pages.allocated(), Layout.AREA)) - 4;
    }

    /**
     * Whether the peer has consumed all messages of this side, because it has answered the last
     * message.
     */
    public final boolean isAnswered() {
        return taken == next - 1;
    }
}
