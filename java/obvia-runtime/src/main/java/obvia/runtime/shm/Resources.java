package obvia.runtime.shm;

/** Closes resources if no caller could handle a failure to close them. */
final class Resources {
    private Resources() {}

    /** Closes a resource, unless it is {@code null}. Ignores failures. */
    static void close(AutoCloseable what) {
        try {
            if (what != null) {
                what.close();
            }
        } catch (Exception e) {
            // The failure has no effect, because the resource is not needed any more.
        }
    }
}
