package obvia;

/** Where objects are bound: a host, or a process that a string binding names. */
public interface Endpoint extends AutoCloseable {
    /**
     * The object that is exported there by a name.
     *
     * @param type the interface that it is called by
     * @param name the name
     * @return a proxy, or the object itself where this process exports it
     * @throws RpcException with RPC_S_SERVER_UNAVAILABLE when nobody serves the name, E_NOINTERFACE when the object has no such interface,
     *     RPC_E_VERSION_MISMATCH when the two sides mean different things by it
     */
    <T> T bind(Class<T> type, String name);

    @Override
    void close();
}
