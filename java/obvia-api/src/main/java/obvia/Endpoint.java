package obvia;

/** Where objects are bound: a host, or a process that a string binding names. */
public interface Endpoint extends AutoCloseable {
    /**
     * The object that is exported there by a name.
     *
     * @param <T> the interface
     * @param type the interface that it is called by
     * @param name the name
     * @return a proxy, or the object itself where this process exports it
     * @throws RpcException with RPC_S_SERVER_UNAVAILABLE when nobody serves the name, E_NOINTERFACE when the object has no such interface,
     *     RPC_E_VERSION_MISMATCH when the two sides mean different things by it
     */
    <T> T bind(Class<T> type, String name);

    /**
     * A new object of a class (CoCreateInstanceEx), made there: on this host as {@link Obvia#createInstance} has it.
     *
     * @param <T> the interface
     * @param classId the class: its CLSID
     * @param type the interface that the object is called by
     * @return a proxy, or the object itself where this process has made it
     * @throws RpcException with REGDB_E_CLASSNOTREG where nobody makes objects of the class, E_NOINTERFACE when they have no such interface
     */
    <T> T createInstance(Guid classId, Class<T> type);

    /**
     * What stands there for a class itself (CoGetClassObject).
     *
     * @param <T> the interface
     * @param classId the class: its CLSID
     * @param type the interface that it is called by
     * @return a proxy, or the object itself where this process has registered the class
     * @throws RpcException as for {@link #createInstance}; with E_NOINTERFACE for a class without class object
     */
    <T> T classObject(Guid classId, Class<T> type);

    /** Ends the use of it: whoever asks for an object gets RPC_E_DISCONNECTED. Objects that came of it can be called as before. */
    @Override
    void close();
}
