package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;

/**
 * A call as its server sees it: the request, and the place for the reply.
 *
 * <p>A stub reads the arguments' frame at {@link #at} of {@link #memory}, which the caller may change at any time, each word once; then it asks for the place of the results by
 * {@link #reply} and writes them at {@link #replyAt} of {@link #replyMemory}.
 */
public final class InCall {
    /** Where the arguments' frame lies: in the caller's memory. */
    public MemorySegment memory;

    /** Where it begins. */
    public long at;

    /** Its bytes. */
    public int length;

    /** The method's number. */
    public int opnum;

    /** Where the results' frame lies. */
    public final MemorySegment replyMemory;

    /** Where it begins, once {@link #reply} was called. */
    public long replyAt;

    /** Bytes of the results' frame; none unless {@link #reply} was called. */
    int replyLength;

    /** What the method returned, where that is no failure. */
    int result;

    private final Window window;
    private final Connection connection;

    // References in the results, and the number of the call that they are of.
    private Sent sent;
    private int sentWith;

    InCall(Window window, Connection connection) {
        this.window = window;
        this.connection = connection;
        replyMemory = window.memory();
    }

    /** Takes up the message that was received last. */
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

    Connection connection() {
        return connection;
    }

    /** References that go with this call's results. */
    Sent sent() {
        if (sent == null || sentWith != window.sequence()) {
            sent = new Sent();
            sentWith = window.sequence();
        }
        return sent;
    }

    /** There will be no results. */
    void takeBack() {
        if (sent != null && sentWith == window.sequence()) {
            sent.takeBack();
        }
    }

    /** Checks that the arguments' frame is a block of so many bytes and nothing else. */
    public void expect(int length) {
        if (this.length != length) {
            throw bad("a request of " + this.length + " bytes where " + length + " are meant");
        }
    }

    /** Checks that the arguments' frame has at least a block of so many bytes. */
    public void expectAtLeast(int length) {
        if (this.length < length) {
            throw bad("a request of " + this.length + " bytes where there are at least " + length);
        }
    }

    /** What is to be thrown where the arguments break the rules. */
    public BadMessageException bad(String what) {
        return new BadMessageException("the arguments are not what the interface says: " + what);
    }

    /** What is to be thrown where the interface has no method of this number. */
    public RuntimeException noMethod() {
        return new NoMethod();
    }

    /** The place for the results' frame of so many bytes. */
    public void reply(int length) {
        replyAt = window.place(length);
        replyLength = length;
    }

    /** Gives results' frame. */
    public void reply(GraphWriter results) {
        reply(results.finish());
        results.copyTo(replyMemory, replyAt);
        results.close();
    }

    /** Says what the method returned besides its results: a success, S_OK unless this is called. */
    public void succeed(int result) {
        this.result = result;
    }

    /** The number of a method that there is not. */
    static final class NoMethod extends RuntimeException {
        private static final long serialVersionUID = 1;

        NoMethod() {
            super("no such method", null, false, false);
        }
    }
}
