package obvia.spi;

/** The lifetime of data in memory, and the thread that may read it. */
public interface Scope {
    /**
     * Checks that the current thread may read the data now.
     *
     * @throws IllegalStateException if the call to which the data belongs has returned
     * @throws WrongThreadException if the data belongs to another thread
     */
    void check();
}
