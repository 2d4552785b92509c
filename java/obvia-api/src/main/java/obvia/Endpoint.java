package obvia;

/**
 * The source from which programs get objects: this host, or the server that a string binding names.
 */
public interface Endpoint extends AutoCloseable {
    /**
     * Binds the object that is exported under a name.
     *
     * @param <T> the interface
     * @param type the interface of the returned reference
     * @param name the name
     * @return a proxy, or the object itself if this process exports it
     * @throws RpcException with RPC_S_SERVER_UNAVAILABLE if no process serves the name,
     *     E_NOINTERFACE if the object lacks the interface, RPC_E_VERSION_MISMATCH if client and
     *     server have different versions of the interface
     */
    <T> T bind(Class<T> type, String name);

    /**
     * Creates an object of a class at the endpoint (CoCreateInstanceEx). The endpoint of this host
     * does the same as {@link Obvia#createInstance}.
     *
     * @param <T> the interface
     * @param classId the CLSID of the class
     * @param type the interface of the returned reference
     * @return a proxy, or the object itself if this process has created it
     * @throws RpcException with REGDB_E_CLASSNOTREG if no process creates objects of the class,
     *     CO_E_SERVER_EXEC_FAILURE if the server could not be started, E_NOINTERFACE if the objects
     *     lack the interface
     */
    <T> T createInstance(Guid classId, Class<T> type);

    /**
     * Returns the class object of a class (CoGetClassObject).
     *
     * @param <T> the interface
     * @param classId the CLSID of the class
     * @param type the interface of the returned reference
     * @return a proxy, or the object itself if this process has registered the class
     * @throws RpcException as for {@link #createInstance}; also with E_NOINTERFACE if the class has
     *     no class object
     */
    <T> T classObject(Guid classId, Class<T> type);

    /**
     * Closes the endpoint: later requests for objects fail with RPC_E_DISCONNECTED. Proxies that
     * the endpoint has returned stay usable.
     */
    @Override
    void close();
}
