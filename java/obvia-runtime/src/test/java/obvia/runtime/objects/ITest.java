package obvia.runtime.objects;

import java.lang.foreign.MemorySegment;
import obvia.Remote;

/** The interface that tests call, with code as the compiler would write it. */
public interface ITest extends Remote {
    int add(int a, int b);

    /** Returns the sum of numbers. */
    long sum(int[] values);

    /** Calls another object, of any process, and adds 1. */
    int visit(ITest other);

    /** Returns the object itself, or a new one. */
    ITest make(boolean isNew);

    /** Fails with this HRESULT; for 0, with an exception that has none. */
    void fail(int result);

    /** Returns the number of interface pointers that clients of the server's process hold. */
    int held();

    /** Sleeps for {@code millis} milliseconds. */
    void sleep(int millis);

    /** Returns the sum of ints, which are copied or passed by reference. */
    long total(MemorySegment values);

    /** Fills bytes that must be passed by reference. */
    void stain(MemorySegment bytes);
}
