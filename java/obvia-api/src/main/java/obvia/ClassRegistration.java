package obvia;

/** A class of which others have objects made by this process. Closing it ends that; objects that were made go on. */
public interface ClassRegistration extends AutoCloseable {
    /**
     * Which class: its CLSID.
     *
     * @return the CLSID
     */
    Guid classId();

    @Override
    void close();
}
