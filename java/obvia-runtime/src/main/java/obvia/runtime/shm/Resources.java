package obvia.runtime.shm;

/** Closes resources, and ignores failures, which no caller could handle. */
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
