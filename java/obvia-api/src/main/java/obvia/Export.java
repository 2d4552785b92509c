package obvia;

/** An exported name. Closing it ends that; references that were handed out stay good. */
public interface Export extends AutoCloseable {
    /** The name. */
    String name();

    @Override
    void close();
}
