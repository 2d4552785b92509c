package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Fault;
import obvia.runtime.call.LimitedLog;

/**
 * A call at its server: the request, and the destination of the reply.
 *
 * <p>A stub reads the arguments' frame at {@link #at} of {@link #memory}. The stub reads each word
 * once, because the caller may change the frame at any time. Then the stub allocates the results by
 * {@link #reply}, and writes them at {@link #replyAt} of {@link #replyMemory}.
 */
public abstract class InCall {
    private static final LimitedLog LOG = new LimitedLog();

    /** The memory of the arguments' frame: the caller's, or a copy. */
    public MemorySegment memory;

    /** The offset of the arguments' frame. */
    public long at;

    /** The length of the arguments' frame in bytes. */
    public int length;

    /** The opnum of the called method. */
    public int opnum;

    /** The memory of the results' frame. */
    public MemorySegment replyMemory;

    /** The offset of the results' frame, after {@link #reply}. */
    public long replyAt;

    /** The length of the results' frame in bytes; 0 unless {@link #reply} was called. */
    protected int replyLength;

    /** The HRESULT of a successful method. */
    protected int result;

    /** Creates a call. Only transports call this constructor. */
    protected InCall() {}

    /** Checks that the arguments' frame is exactly a block of {@code length} bytes. */
    public final void expect(int length) {
        if (this.length != length) {
            throw bad("the request has " + this.length + " bytes, expected " + length);
        }
    }

    /** Checks that the arguments' frame has at least a block of {@code length} bytes. */
    public final void expectAtLeast(int length) {
        if (this.length < length) {
            throw bad("the request has " + this.length + " bytes, expected at least " + length);
        }
    }

    /** Returns the exception for malformed arguments. */
    public final BadMessageException bad(String what) {
        return new BadMessageException("the arguments do not match the interface: " + what);
    }

    /** Returns the exception for an opnum that the interface lacks. */
    public final RuntimeException noMethod() {
        return new Fault.Refused(Fault.OP_RANGE);
    }

    /** Allocates the results' frame with {@code length} bytes. */
    public abstract void reply(int length);

    /**
     * Returns an array that the caller passes by reference.
     *
     * @param reference the content of the array's slot
     * @param isWritten whether the method writes the array
     * @param count the number of the array's elements
     * @param size the size of an element in bytes
     * @param align the required alignment in bytes
     */
    public final MemorySegment shared(long reference, boolean isWritten, long count, int size, int align) {
        MemorySegment found = region(reference, isWritten, count, size, align);
        if (found == null) {
            throw bad("the array of " + count + " elements does not lie in shared memory that the method may use");
        }
        return found;
    }

    /**
     * Returns an array that the caller passes by reference; {@code null} if the reference is
     * invalid.
     */
    protected MemorySegment region(long reference, boolean isWritten, long count, int size, int align) {
        return null;
    }

    /** Marshals an object, which is not {@code null}, as a reference in the results. */
    protected abstract byte[] reference(Object object, InterfaceInfo<?> info);

    /** Unmarshals a reference in the arguments. */
    protected abstract <T> T object(byte[] reference, InterfaceInfo<T> info);

    /** Writes the results' frame. */
    public void reply(GraphWriter results) {
        reply(results.finish(this));
        results.copyTo(replyMemory, replyAt);
        results.close();
    }

    /** Sets the HRESULT of a successful method; S_OK by default. */
    public final void succeed(int result) {
        this.result = result;
    }

    /**
     * Returns the answer to a call whose stub has thrown an exception: an HRESULT, or a fault's
     * status with bit 32 set.
     */
    public static long answer(Throwable why) {
        return switch (why) {
            case Fault.Refused e -> Fault.answer(e.status());
            case BadMessageException _ -> Fault.answer(Fault.BAD_STUB_DATA);
            case RpcException e -> Integer.toUnsignedLong(e.result() < 0 ? e.result() : Hresult.E_FAIL);
            case OutOfMemoryError _ -> Integer.toUnsignedLong(Hresult.E_OUTOFMEMORY);
            default -> {
                LOG.warn("a method threw an exception that it does not declare", why);
                yield Integer.toUnsignedLong(Hresult.RPC_E_SERVERFAULT);
            }
        };
    }
}
