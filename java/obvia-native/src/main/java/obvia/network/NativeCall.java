package obvia.network;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;

/** A call that came over a network, with a copy of the arguments. */
final class NativeCall extends InCall {
    private static final int SMALL = 4096;
    private static final int KEPT_MAX = 1 << 20;

    /** The nested calls of a thread. Each level keeps its results until its next call. */
    private static final class Calls {
        private final List<NativeCall> nested = new ArrayList<>();
        private int depth;
    }

    private static final ThreadLocal<Calls> OF_THREAD = ThreadLocal.withInitial(Calls::new);

    private final Calls calls;
    // A stub may replace the public fields, so the library gets the memory of these private fields.
    private MemorySegment arguments;
    private MemorySegment results;

    private NativeCall(Calls calls) {
        this.calls = calls;
        arguments = allocate(SMALL);
        results = allocate(SMALL);
    }

    private static MemorySegment allocate(long size) {
        return Arena.ofAuto().allocate(Math.max(SMALL, size), 8);
    }

    private static MemorySegment room(MemorySegment memory, long length) {
        return memory.byteSize() < length || memory.byteSize() > KEPT_MAX ? allocate(length) : memory;
    }

    /** Begins a call with a copy of the request. */
    static NativeCall enter(int opnum, MemorySegment request) {
        Calls calls = OF_THREAD.get();
        if (calls.depth == calls.nested.size()) {
            calls.nested.add(new NativeCall(calls));
        }
        NativeCall call = calls.nested.get(calls.depth);
        long length = request.byteSize();
        call.arguments = room(call.arguments, length);
        MemorySegment.copy(request, 0, call.arguments, 0, length);
        call.memory = call.arguments;
        call.at = 0;
        call.length = Math.toIntExact(length);
        call.opnum = opnum;
        call.replyLength = 0;
        call.result = 0;
        calls.depth++;
        return call;
    }

    void leave() {
        calls.depth--;
    }

    int result() {
        return result;
    }

    /** Returns the results' frame. */
    MemorySegment results() {
        return results.asSlice(0, replyLength);
    }

    /** Puts the description of a failure in place of the results. */
    void tell(byte[] words) {
        reply(words.length);
        MemorySegment.copy(MemorySegment.ofArray(words), 0, replyMemory, 0, words.length);
    }

    @Override
    public void reply(int length) {
        results = room(results, length);
        replyMemory = results;
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
