package obvia.spi;

/** The memory that a retained argument holds. */
public interface Hold {
    /** Returns the size of the memory in bytes. */
    int bytes();

    /** Releases the memory. */
    void release();
}
