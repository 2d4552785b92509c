package obvia.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import obvia.RpcException;

/**
 * The references that a thread has marshaled for its next call. The library takes the references
 * over with the call. If the server does not receive them, the library takes them back.
 */
final class SentReferences {
    private static final ThreadLocal<SentReferences> OF_THREAD = new ThreadLocal<>();
    private static final SentReferences NONE = new SentReferences(0);

    private final long through;
    private final List<byte[]> references = new ArrayList<>();

    private SentReferences(long through) {
        this.through = through;
    }

    /** Adds a reference for a call of the object {@code through}. */
    static void add(long through, byte[] reference) {
        SentReferences sent = OF_THREAD.get();
        if (sent == null || sent.through != through) {
            takeBackUnsent();
            sent = new SentReferences(through);
            OF_THREAD.set(sent);
        }
        sent.references.add(reference);
    }

    /**
     * Removes and returns the references for the call of the object {@code through} that begins on
     * this thread. Takes back references that were marshaled for another object.
     */
    static SentReferences forCall(long through) {
        SentReferences sent = OF_THREAD.get();
        if (sent == null) {
            return NONE;
        }
        if (sent.through != through) {
            takeBackUnsent();
            return NONE;
        }
        OF_THREAD.remove();
        return sent;
    }

    /** Takes back the references for a call that this thread does not make after all. */
    static void takeBackUnsent() {
        SentReferences sent = OF_THREAD.get();
        if (sent != null) {
            OF_THREAD.remove();
            sent.takeBack();
        }
    }

    /**
     * Returns the references in the library's format, for the library to take over: the length and
     * the bytes of each reference.
     */
    MemorySegment handOver() {
        if (references.isEmpty()) {
            return MemorySegment.NULL;
        }
        long length = references.stream().mapToLong(reference -> Long.BYTES + reference.length).sum();
        MemorySegment list = Arena.ofAuto().allocate(length, Long.BYTES);
        long at = 0;
        for (byte[] reference : references) {
            list.set(JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN), at, reference.length);
            MemorySegment.copy(reference, 0, list, JAVA_BYTE, at + Long.BYTES, reference.length);
            at += Long.BYTES + reference.length;
        }
        references.clear();
        return list;
    }

    /** Takes back the references that were not handed over. */
    void takeBack() {
        MemorySegment list = handOver();
        if (list.address() != 0) {
            try {
                Functions.takeBack(through, list);
            } catch (RpcException e) {
                // The library did not take the references back, so they stay until the server ends.
            }
        }
    }
}
