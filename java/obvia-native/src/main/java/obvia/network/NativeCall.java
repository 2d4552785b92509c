package obvia.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;

/**
 * A call that came over a network. Small arguments are copied to a buffer of the thread. Large
 * arguments are read in the library's memory until the call ends.
 */
final class NativeCall extends InCall {
    private static final int SMALL = 4096;
    /** The maximum length of each buffer that a thread keeps for its next call. */
    static final int KEPT_MAX = 64 << 10;

    /**
     * The nested calls of a thread. Each level of nesting keeps the results of a call until the
     * next call on the same level.
     */
    private static final class Calls {
        private final List<NativeCall> nested = new ArrayList<>();
        private int depth;
    }

    private static final ThreadLocal<Calls> OF_THREAD = ThreadLocal.withInitial(Calls::new);

    private final Calls calls;
    /**
     * The count of the attempted replacements of {@link Objects}, when the last call at this level
     * of nesting on this thread looked its object up.
     */
    int replacements;
    // A stub can replace the public fields, so the library gets the memory of these private fields.
    private MemorySegment arguments;
    private MemorySegment results;
    /** The lifetime of large arguments; {@code null} if the arguments are small. */
    private Arena lifetime;
    /** The memory of large results; {@code null} if the results are small, or were given away. */
    private Functions.Room room;

    private NativeCall(Calls calls) {
        this.calls = calls;
        arguments = allocate(SMALL);
        results = allocate(SMALL);
    }

    private static MemorySegment allocate(long size) {
        return Arena.ofAuto().allocate(Math.max(SMALL, size), 8);
    }

    private static MemorySegment enlarged(MemorySegment memory, long length) {
        return memory.byteSize() < length ? allocate(length) : memory;
    }

    /**
     * Begins a call. The request lies in the library's memory, which stays valid until after the
     * call has ended.
     */
    static NativeCall enter(int opnum, MemorySegment request) {
        Calls calls = OF_THREAD.get();
        if (calls.depth == calls.nested.size()) {
            calls.nested.add(new NativeCall(calls));
        }
        NativeCall call = calls.nested.get(calls.depth);
        long length = request.byteSize();
        call.memory = call.argumentsOf(request);
        call.at = 0;
        call.length = Math.toIntExact(length);
        call.opnum = opnum;
        call.replyLength = 0;
        call.result = 0;
        calls.depth++;
        return call;
    }

    private MemorySegment argumentsOf(MemorySegment request) {
        long length = request.byteSize();
        if (length > KEPT_MAX) {
            // All threads can read the segment, as they can read small arguments.
            lifetime = Arena.ofShared();
            return Functions.foreign(request, lifetime).asReadOnly();
        }
        arguments = enlarged(arguments, length);
        MemorySegment.copy(request, 0, arguments, 0, length);
        return arguments;
    }

    void leave() {
        calls.depth--;
        memory = arguments;
        replyMemory = results;
        endArguments();
        dropRoom();
    }

    /** Ends the access of all threads to large arguments. The library then frees the arguments. */
    private void endArguments() {
        Arena ended = lifetime;
        lifetime = null;
        boolean isAlive = ended != null;
        while (isAlive) {
            try {
                ended.close();
                isAlive = false;
            } catch (IllegalStateException e) {
                // Another thread uses the memory for I/O, so the arena cannot be closed yet.
                Thread.yield();
            }
        }
    }

    private void dropRoom() {
        Functions.Room unused = room;
        room = null;
        if (unused != null) {
            unused.drop();
        }
    }

    /**
     * Gives the memory of large results to the library, and returns its handle. Returns 0 if the
     * results are small.
     */
    long giveRoom() {
        Functions.Room given = room;
        room = null;
        return given == null ? 0 : given.give();
    }

    int result() {
        return result;
    }

    /** Returns the results' frame. */
    MemorySegment results() {
        return (room == null ? results : room.memory()).asSlice(0, replyLength);
    }

    /** Puts the description of a failure in place of the results. */
    void tell(byte[] words) {
        reply(words.length);
        MemorySegment.copy(MemorySegment.ofArray(words), 0, replyMemory, 0, words.length);
    }

    @Override
    public void reply(int length) {
        dropRoom();
        if (length > KEPT_MAX) {
            room = new Functions.Room(length);
            replyMemory = room.memory();
        } else {
            results = enlarged(results, length);
            replyMemory = results;
        }
        replyAt = 0;
        replyLength = length;
    }

    @Override
    protected byte[] reference(Object object, InterfaceInfo<?> info) {
        return NativeTransport.INSTANCE.reference(0, object, info);
    }

    @Override
    protected <T> T object(byte[] reference, InterfaceInfo<T> info) {
        return NativeTransport.INSTANCE.object(0, reference, info);
    }
}
