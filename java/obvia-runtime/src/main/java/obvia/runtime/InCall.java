package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;

/**
 * A call as its server sees it: the request, and the place for the reply.
 *
 * <p>A stub reads the arguments' frame at {@link #at} of {@link #memory}, which the caller may change at any time, each word once; then it asks for the place of the results by
 * {@link #reply} and writes them at {@link #replyAt} of {@link #replyMemory}.
 */
public abstract class InCall {
    private static final LimitedLog LOG = new LimitedLog();

    /** Where the arguments' frame lies: in the caller's memory, or a copy. */
    public MemorySegment memory;

    /** Where it begins. */
    public long at;

    /** Its bytes. */
    public int length;

    /** The method's number. */
    public int opnum;

    /** Where the results' frame lies. */
    public MemorySegment replyMemory;

    /** Where it begins, once {@link #reply} was called. */
    public long replyAt;

    /** Bytes of the results' frame; none unless {@link #reply} was called. */
    protected int replyLength;

    /** What the method returned, where that is no failure. */
    protected int result;

    /** For ways that calls come by. */
    protected InCall() {}

    /** Checks that the arguments' frame is a block of so many bytes and nothing else. */
    public final void expect(int length) {
        if (this.length != length) {
            throw bad("a request of " + this.length + " bytes where " + length + " are meant");
        }
    }

    /** Checks that the arguments' frame has at least a block of so many bytes. */
    public final void expectAtLeast(int length) {
        if (this.length < length) {
            throw bad("a request of " + this.length + " bytes where there are at least " + length);
        }
    }

    /** What is to be thrown where the arguments break the rules. */
    public final BadMessageException bad(String what) {
        return new BadMessageException("the arguments are not what the interface says: " + what);
    }

    /** What is to be thrown where the interface has no method of this number. */
    public final RuntimeException noMethod() {
        return new Refused(Fault.OP_RANGE);
    }

    /** The place for the results' frame of so many bytes. */
    public abstract void reply(int length);

    /**
     * An array that the caller passes by reference.
     *
     * @param reference what its slot says
     * @param count its elements
     * @param size bytes of each
     * @param align where they may begin
     */
    public final MemorySegment shared(long reference, boolean isWritten, long count, int size, int align) {
        MemorySegment found = region(reference, isWritten, count, size, align);
        if (found == null) {
            throw bad("an array of " + count + " elements which is not where it says");
        }
        return found;
    }

    /** The same; {@code null} where there is no such memory. */
    protected MemorySegment region(long reference, boolean isWritten, long count, int size, int align) {
        return null;
    }

    /** The bytes of a reference in the results; the object is not {@code null}. */
    protected abstract byte[] reference(Object object, InterfaceInfo<?> info);

    /** What a reference in the arguments leads to. */
    protected abstract <T> T object(byte[] reference, InterfaceInfo<T> info);

    /** Gives results' frame. */
    public void reply(GraphWriter results) {
        reply(results.finish(this));
        results.copyTo(replyMemory, replyAt);
        results.close();
    }

    /** Says what the method returned besides its results: a success, S_OK unless this is called. */
    public final void succeed(int result) {
        this.result = result;
    }

    /** A fault's status has this bit above it. */
    static final long FAULT = 1L << 32;

    /** What the caller gets where a stub has thrown something: the method's HRESULT, or a fault's status with bit 32 set. */
    public static long answer(Throwable why) {
        return switch (why) {
            case Refused e -> FAULT | Integer.toUnsignedLong(e.status);
            case BadMessageException _ -> FAULT | Fault.BAD_STUB_DATA;
            case RpcException e -> Integer.toUnsignedLong(e.result() < 0 ? e.result() : Hresult.E_FAIL);
            case OutOfMemoryError _ -> Integer.toUnsignedLong(Hresult.E_OUTOFMEMORY);
            default -> {
                LOG.warn("a method failed with what it does not declare", why);
                yield Integer.toUnsignedLong(Hresult.RPC_E_SERVERFAULT);
            }
        };
    }

    /** What makes a call a fault before its method is called. */
    static final class Refused extends RuntimeException {
        private static final long serialVersionUID = 1;

        /** The fault's. */
        final int status;

        Refused(int status) {
            super("the call is refused", null, false, false);
            this.status = status;
        }
    }
}
