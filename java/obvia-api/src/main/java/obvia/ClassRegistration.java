package obvia;

/**
 * The registration of a class whose objects this process creates for clients. Closing the
 * registration revokes the class; existing objects stay.
 */
public interface ClassRegistration extends AutoCloseable {
    /**
     * Returns the CLSID of the class.
     *
     * @return the CLSID
     */
    Guid classId();

    @Override
    void close();
}
