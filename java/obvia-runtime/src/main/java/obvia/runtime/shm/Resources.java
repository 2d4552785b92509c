package obvia.runtime.shm;

/** The closing of resources whose failure to close no caller could handle. */
final class Resources {
    private Resources() {}

    /** Closes something, unless it is {@code null}. */
    static void close(AutoCloseable what) {
        try {
            if (what != null) {
                what.close();
            }
        } catch (Exception e) {
            // The resource is not needed any more.
        }
    }
}
