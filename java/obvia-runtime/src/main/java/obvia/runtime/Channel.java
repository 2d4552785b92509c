package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;
import obvia.RpcException;

/**
 * The calling end of a connection. Only one thread at a time makes calls on a channel.
 *
 * <p>A proxy's method gets a channel from {@link Proxy#begin}, writes the request's frame at
 * {@link #at} of {@link #memory}, calls {@link Proxy#call}, reads the reply's frame at
 * {@link #replyAt} of {@link #replyMemory}, and finishes with {@link #end}. Only {@link Proxy}
 * makes the call itself, because the proxy keeps the reference alive during the call.
 */
public abstract class Channel {
    /** The memory of the request's frame. */
    public MemorySegment memory;

    /** The offset of the request's frame. */
    public long at;

    /** The memory of the reply's frame, after the call. */
    public MemorySegment replyMemory;

    /** The offset of the reply's frame. */
    public long replyAt;

    /** The length of the reply's frame, in bytes. */
    public int length;

    /** The transport to which the interface pointers of the calls belong. */
    final Transport transport;

    /** Creates a channel. Only transports call this constructor. */
    protected Channel(Transport transport) {
        this.transport = transport;
    }

    /** Allocates a request's frame of {@code length} bytes and returns this channel. */
    protected abstract Channel request(int length);

    /**
     * Sends the request and waits for the response.
     *
     * @param target the interface pointer
     * @param opnum the opnum
     * @param length the length of the request's frame in bytes, at most the allocated length
     * @throws RpcException with the HRESULT of the method if it failed, or with the reason why
     *     there are no results
     */
    protected final void call(long target, int opnum, int length) {
        int result = exchange(target, opnum, length);
        if (result < 0) {
            try {
                throw failure(result);
            } finally {
                end();
            }
        }
    }

    /** Returns the exception for a failed method, with the server's description if there is one. */
    protected RpcException failure(int result) {
        return RpcException.of(result);
    }

    /** Performs a call and returns the method's HRESULT, which is negative if the method failed. */
    protected abstract int exchange(long target, int opnum, int length);

    /** Sends the request of a call without response. */
    protected abstract void oneway(long target, int opnum, int length);

    /**
     * Creates a reference to an array before the request's frame is written. Returns 0 if the peer
     * does not accept the array by reference. The caller must then copy the array.
     *
     * @param isWritten whether the method writes the array
     * @param length the allocated length of the request's frame, in bytes
     */
    public long refer(MemorySegment array, boolean isWritten, int length) {
        return 0;
    }

    /** Checks that the reply's frame is exactly a block of {@code length} bytes. */
    public final void expect(int length) {
        if (this.length != length) {
            throw bad("the reply has " + this.length + " bytes, expected " + length);
        }
    }

    /** Checks that the reply's frame has at least a block of {@code length} bytes. */
    public final void expectAtLeast(int length) {
        if (this.length < length) {
            throw bad("the reply has " + this.length + " bytes, expected at least " + length);
        }
    }

    /**
     * Ends the call and returns an exception for results that violate the rules. The connection
     * stays usable.
     */
    public final BadMessageException bad(String what) {
        end();
        return new BadMessageException("the results do not match the interface: " + what);
    }

    /**
     * Returns the exception for a failed access to the memory of a call's frames. If the peer has
     * truncated the memory, or another thread has closed it, the connection ends. If the failure
     * has another cause, throws {@code why}.
     */
    public RpcException failed(Throwable why) {
        if (why instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) why;
    }

    /** Frees the reply after its results have been read, so that the next call can be made. */
    public abstract void end();
}
