package obvia.spi;

/** The memory that a retained argument holds. */
public interface Hold {
    /** Returns the number of bytes. */
    int bytes();

    /** Releases the memory. */
    void release();
}
