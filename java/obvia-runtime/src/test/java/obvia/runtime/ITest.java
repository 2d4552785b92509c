package obvia.runtime;

import java.lang.foreign.MemorySegment;
import obvia.Remote;

/** What the tests call: written by hand as the compiler would write it. */
public interface ITest extends Remote {
    int add(int a, int b);

    /** The sum of some numbers. */
    long sum(int[] values);

    /** Calls another object, which may be of any process, and adds one. */
    int visit(ITest other);

    /** The object itself, or one that is made for the caller. */
    ITest make(boolean isNew);

    /** Fails: with this result, or in a way that cannot be told for 0. */
    void fail(int result);

    /** How many interface pointers the server's process has handed out. */
    int held();

    /** Takes so many milliseconds. */
    void sleep(int millis);

    /** The sum of ints, which are copied or go by reference. */
    long total(MemorySegment values);

    /** Fills bytes that have to go by reference. */
    void stain(MemorySegment bytes);
}
