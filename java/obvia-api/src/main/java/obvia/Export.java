package obvia;

/** An exported name. Closing the export frees the name; references that clients hold stay valid. */
public interface Export extends AutoCloseable {
    /**
     * Returns the name.
     *
     * @return the name under which clients bind the object
     */
    String name();

    /**
     * Replaces the exported object by another one with the same interface: see
     * {@link #replace(Object, Class)}.
     *
     * @param object the new object
     */
    void replace(Object object);

    /**
     * Replaces the exported object.
     *
     * <p>Existing proxies keep their identity and lead to the new object: calls in progress finish
     * on the old object, and later calls go to the new object. The new interface may extend the
     * previous interface: clients that know the new interface query their proxy for it with
     * {@link Obvia#as}. References within this process keep leading to the old object. If the method
     * throws an exception, nothing has changed.
     *
     * @param <T> the interface
     * @param object the new object
     * @param type the interface of the export
     * @throws RpcException with E_NOINTERFACE if the new object lacks an interface of the old one
     *     to which clients have references, E_INVALIDARG if clients already have references to the
     *     new object, if clients on networks have had such references and the new object has an
     *     access rule of its own, or if the new object has a name in a process that listens,
     *     E_NOTIMPL if the new object is a proxy, RPC_E_DISCONNECTED if the export is closed
     */
    <T> void replace(T object, Class<T> type);

    /**
     * Binds the name to another object. During the change, no other process can take the name, but
     * a lookup of the name over a network can fail. Existing references keep leading to the
     * previous object.
     *
     * @param <T> the interface
     * @param object the new object
     * @param type the interface of the export
     * @throws RpcException with E_NOTIMPL if the new object is a proxy, RPC_E_DISCONNECTED if the
     *     export is closed
     */
    <T> void rebind(T object, Class<T> type);

    /** Ends the export and frees the name. */
    @Override
    void close();
}
