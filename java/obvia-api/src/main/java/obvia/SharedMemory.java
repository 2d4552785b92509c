package obvia;

import java.lang.foreign.MemorySegment;

/**
 * Memory that methods get by reference, not as a copy, where an array of a {@code zero_copy} or {@code map} parameter lies in it: {@link Obvia#share} makes it.
 *
 * <p>A process that it is passed to maps all of it, and keeps it until some call after it was closed; so what lies in one piece of it is for the same eyes.
 */
public interface SharedMemory extends AutoCloseable {
    /** What the methods that it is passed to may do with it. */
    enum Access {
        /** They read it. */
        READ,
        /** They read and write it. */
        WRITE
    }

    /**
     * The memory: zeros at first, writable, and for all threads, until it is closed. Slices of it are what calls pass by reference.
     *
     * @return the memory
     */
    MemorySegment memory();

    /**
     * Ends it here, and soon where it was passed to.
     *
     * @throws IllegalStateException where something uses it just now
     */
    @Override
    void close();
}
