package obvia;

/** An exported name. Closing it ends that; references that were handed out stay good. */
public interface Export extends AutoCloseable {
    /**
     * The name.
     *
     * @return the name that others bind the object by
     */
    String name();

    /**
     * Puts another object in the place of the one that is exported, by the interface that it is exported by: see {@link #replace(Object, Class)}.
     *
     * @param object the object
     */
    void replace(Object object);

    /**
     * Puts another object in the place of the one that is exported.
     *
     * <p>Others' proxies go on and lead to the new object, as the same one that they led to: calls in progress end on the old object, all that begin later go to the new one.
     * Its interface may be a newer one that extends the older: who knows it gets it by {@link Obvia#as} on the proxy at hand. What this process itself has of the
     * old object is the old object.
     *
     * @param <T> the interface
     * @param object the object
     * @param type the interface by which it is exported
     * @throws RpcException with E_NOINTERFACE where the new object lacks an interface that others refer to the old one by, E_INVALIDARG where others refer to the new
     *     one already, RPC_E_DISCONNECTED where the export is closed
     */
    <T> void replace(T object, Class<T> type);

    /**
     * Binds the name to another object from now on, and to none in between: who has the object that it was bound to keeps that.
     *
     * @param <T> the interface
     * @param object the object
     * @param type the interface by which it is exported
     * @throws RpcException with RPC_E_DISCONNECTED where the export is closed
     */
    <T> void rebind(T object, Class<T> type);

    /** Ends the export: the name is free. */
    @Override
    void close();
}
