package obvia.spi;

/** Memory that is kept for somebody. */
public interface Hold {
    /** How many bytes. */
    int bytes();

    /** It is needed no longer. */
    void release();
}
