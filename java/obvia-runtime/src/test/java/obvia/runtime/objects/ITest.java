package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import obvia.Remote;

/** The interface that tests call, with code as the compiler would write it. */
public interface ITest extends Remote {
    int add(int a, int b);

    /** Returns the sum of numbers. */
    long sum(int[] values);

    /** Calls another object, of any process, and returns the result plus 1. */
    int visit(ITest other);

    /** Returns the object itself, or a new object. */
    ITest make(boolean isNew);

    /** Fails with this HRESULT; for 0, with an exception that has no HRESULT. */
    void fail(int result);

    /** Returns the number of interface pointers that clients of the server's process hold. */
    int held();

    /** Sleeps for {@code millis} milliseconds. */
    void sleep(int millis);

    /** Returns the sum of {@code int}s. The array is copied or passed by reference. */
    long total(MemorySegment values);

    /** Fills bytes that must be passed by reference. */
    void stain(MemorySegment bytes);
}
