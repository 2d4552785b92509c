package obvia.spi;

/** How long something in memory may be read, and by whom. */
public interface Scope {
    /**
     * Checks that it still may.
     *
     * @throws IllegalStateException where the call that it came with has returned
     * @throws WrongThreadException where it is another thread's
     */
    void check();
}
