package obvia.runtime.shm;

/** The end of resources where no caller could handle a failure. */
final class Resources {
    private Resources() {}

    /** Closes something, unless it is {@code null}. */
    static void close(AutoCloseable what) {
        try {
            if (what != null) {
                what.close();
            }
        } catch (Exception e) {
            // No caller could handle the failure.
        }
    }
}
