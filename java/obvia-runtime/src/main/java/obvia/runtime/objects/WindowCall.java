package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import obvia.runtime.Flat;
import obvia.runtime.InCall;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.shm.Window;

/** A call that came through shared memory. */
final class WindowCall extends InCall {
    private final Window window;
    private final Connection connection;

    // The references in the results of a call, and the number of that call.
    private SentReferences sent;
    private int sentWith;

    WindowCall(Window window, Connection connection) {
        this.window = window;
        this.connection = connection;
        replyMemory = window.memory();
    }

    /** Begins the call that was received last. */
    void enter() {
        if (memory != window.frame) {
            memory = window.frame;
        }
        at = window.at;
        length = window.length;
        opnum = window.opnum();
        replyLength = 0;
        result = 0;
    }

    /** Returns the HRESULT of a successful method. */
    int result() {
        return result;
    }

    /** Returns the length of the results' frame in bytes. */
    int replyLength() {
        return replyLength;
    }

    Connection connection() {
        return connection;
    }

    /** Returns the record of the references in this call's results. */
    SentReferences sent() {
        if (sent == null || sentWith != window.sequence()) {
            sent = new SentReferences();
            sentWith = window.sequence();
        }
        return sent;
    }

    /** Takes back the references of a call that has no results. */
    void takeBack() {
        if (sent != null && sentWith == window.sequence()) {
            sent.takeBack();
        }
    }

    @Override
    public void reply(int length) {
        replyAt = window.place(length);
        replyLength = length;
    }

    @Override
    protected MemorySegment region(long reference, boolean isWritten, long count, int size, int align) {
        return connection.regions().find(reference, isWritten, count, size, align);
    }

    @Override
    protected byte[] reference(Object object, InterfaceInfo<?> info) {
        return sent().marshal(connection.runtime(), connection.client(), object, info, connection.isVirtual());
    }

    @Override
    protected <T> T object(byte[] reference, InterfaceInfo<T> info) {
        ObjRef received = ObjRef.fromBytes(reference);
        ProcessRuntime runtime = connection.runtime();
        if (received.oxid() == runtime.oxid()) {
            // A client that is refused has no references to the object, so none are given back.
            connection.checkNamed(received.target());
        }
        return runtime.adopt(received, info, null, connection.client());
    }

    /** Reads the references in a call's frame: targets and counts. */
    void forEachReference(ReferenceUse use) {
        if (length % 16 != 0 || length > RuntimeCalls.RELEASES_MAX * 16) {
            throw bad("a list of references has " + length + " bytes, which is no multiple of 16 or above the limit");
        }
        for (long entry = at; entry < at + length; entry += 16) {
            use.accept(memory.get(Flat.LONG, entry), memory.get(Flat.LONG, entry + 8));
        }
    }

    /** A use of a target and a count of references to it. */
    @FunctionalInterface
    interface ReferenceUse {
        void accept(long target, long refs);
    }
}
