package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;
import obvia.RpcException;

/**
 * What one thread at a time makes calls by.
 *
 * <p>A proxy's method asks for one by {@link Proxy#begin}, writes the arguments' frame at {@link #at} of {@link #memory}, calls by {@link Proxy#call}, reads the results' frame at
 * {@link #replyAt} of {@link #replyMemory}, and ends with {@link #end}. Calls themselves are no proxy's to make: {@link Proxy} does, and keeps the object meanwhile.
 */
public abstract class Channel {
    /** Where the request's frame lies. */
    public MemorySegment memory;

    /** Where it begins. */
    public long at;

    /** Where the reply's frame lies, after the call. */
    public MemorySegment replyMemory;

    /** Where it begins. */
    public long replyAt;

    /** Bytes of the reply's frame. */
    public int length;

    /** For ways that have channels of their own. */
    protected Channel() {}

    /** Makes the place for a request's frame of so many bytes, and returns this. */
    protected abstract Channel request(int length);

    /**
     * Publishes the request, and waits for the response.
     *
     * @param target the interface pointer
     * @param opnum the method
     * @param length bytes of the request's frame: as many as were asked for, or fewer
     * @throws RpcException what the method returned where it failed, or why there are no results
     */
    final void call(long target, int opnum, int length) {
        int result = exchange(target, opnum, length);
        if (result < 0) {
            Words words = takeWords();
            end();
            throw words == null ? RpcException.of(result) : words.toException(result);
        }
    }

    /** What the server says of the method that has just failed; {@code null} where it does not. It says so once. */
    protected Words takeWords() {
        return null;
    }

    /** The same for methods that do not fail by what they return: the result, whatever it is. */
    protected abstract int exchange(long target, int opnum, int length);

    /** Publishes the request as a call without response. */
    protected abstract void oneway(long target, int opnum, int length);

    /**
     * A reference to an array, before the request's frame is written; 0 where the other side does not take it, so that it has to be copied.
     *
     * @param length bytes of the request's frame, as they were asked for
     */
    public long refer(MemorySegment array, boolean isWritten, int length) {
        return 0;
    }

    /** Checks that the reply's frame is a block of so many bytes and nothing else. */
    public final void expect(int length) {
        if (this.length != length) {
            throw bad("a reply of " + this.length + " bytes where " + length + " are meant");
        }
    }

    /** Checks that the reply's frame has at least a block of so many bytes. */
    public final void expectAtLeast(int length) {
        if (this.length < length) {
            throw bad("a reply of " + this.length + " bytes where there are at least " + length);
        }
    }

    /** Says that a reply breaks the rules, and ends the call; the connection goes on. */
    public final BadMessageException bad(String what) {
        end();
        return new BadMessageException("the results are not what the interface says: " + what);
    }

    /** The results have been read: the next call may be made. */
    public abstract void end();

    /** A private copy of some bytes. */
    static byte[] bytes(MemorySegment memory, long at, int length) {
        byte[] copy = new byte[length];
        MemorySegment.copy(memory, at, MemorySegment.ofArray(copy), 0, length);
        return copy;
    }
}
