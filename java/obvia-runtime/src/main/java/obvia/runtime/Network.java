package obvia.runtime;

/** What has other protocol sequences than {@code ncacn_vi_shm}: found by {@link java.util.ServiceLoader} when one is first asked for. */
public interface Network {
    /**
     * The object that is exported by a name where a string binding leads.
     *
     * @param binding a string binding, of a protocol sequence that may be unknown
     */
    <T> T bind(String binding, InterfaceInfo<T> info, String name);

    /**
     * Lets processes of other hosts reach what is exported.
     *
     * @return the binding, with the endpoint that was taken
     */
    String listen(String binding);

    /** Exports an object to those who reach this process that way; what is returned ends it. */
    Runnable export(Object object, InterfaceInfo<?> info, String name);

    /** Has another object take the place of one, for all who refer to it. */
    void replace(Object former, Object object);
}
