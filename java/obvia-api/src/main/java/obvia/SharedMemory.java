package obvia;

import java.lang.foreign.MemorySegment;

/**
 * Memory that calls pass by reference: an array in this memory is not copied if it is the argument
 * for a {@code zero_copy} or {@code map} parameter. {@link Obvia#share} allocates the memory.
 *
 * <p>A callee's process maps all of the memory. After the memory was closed, the callee keeps the
 * mapping until it receives other shared memory, or until the connection ends. Data with different
 * confidentiality therefore belongs in different shared memory.
 */
public interface SharedMemory extends AutoCloseable {
    /** The access of the callees. */
    enum Access {
        /** Callees read the memory. */
        READ,
        /** Callees read and write the memory. */
        WRITE
    }

    /**
     * Returns the memory: zero-filled at first, writable, and accessible to all threads until it is
     * closed. Calls pass slices of it by reference.
     *
     * @return the memory
     */
    MemorySegment memory();

    /**
     * Unmaps the memory in this process, and later in the processes to which it was passed.
     *
     * @throws IllegalStateException if the memory is in use
     */
    @Override
    void close();
}
