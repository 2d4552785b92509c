package obvia;

import java.time.Duration;
import java.util.concurrent.Callable;
import obvia.spi.Runtime;

/** Exporting objects, and binding those that others export. */
public final class Obvia {
    private Obvia() {}

    /**
     * Lets other processes of this host and user bind an object by a name.
     *
     * <p>The object's methods are called by several threads at once: {@link Threading#PLATFORM} ones.
     *
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT when a live process serves the name, E_INVALIDARG when it cannot be one
     */
    public static <T> Export export(T object, Class<T> type, String name) {
        return export(object, type, name, Threading.PLATFORM);
    }

    /**
     * The same with the threads that call the methods: those of the object, and of the objects that its methods hand out.
     *
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT when a live process serves the name, E_INVALIDARG when it cannot be one
     */
    public static <T> Export export(T object, Class<T> type, String name, Threading threading) {
        return Runtime.instance().export(object, type, name, threading);
    }

    /** This host: what its processes export through shared memory. */
    public static Endpoint connect() {
        return Runtime.instance().connect("");
    }

    /**
     * Whom a string binding leads to.
     *
     * @param binding {@code ncacn_vi_shm:} for this host; with obvia-native {@code ncacn_vi_udp:host[port]}, {@code ncacn_ip_tcp:host[port]} and
     *     others
     * @throws RpcException with E_INVALIDARG when it is of a protocol sequence that there is nothing for
     */
    public static Endpoint connect(String binding) {
        return Runtime.instance().connect(binding);
    }

    /**
     * Lets processes of other hosts reach what this one exports, now and later: with obvia-native, {@code ncacn_vi_udp:0.0.0.0[5555]}, or without
     * an endpoint to have one chosen.
     *
     * @return the binding, with the endpoint that was taken
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT for an endpoint that is taken; E_INVALIDARG when it is no string binding, or of a protocol
     *     sequence that there is nothing for
     */
    public static String listen(String binding) {
        return Runtime.instance().listen(binding);
    }

    /** The object that a process of this host exports by a name: {@link #connect()} and {@link Endpoint#bind}. */
    public static <T> T bind(Class<T> type, String name) {
        return connect().bind(type, name);
    }

    /**
     * The same object by another interface: COM's QueryInterface.
     *
     * @throws RpcException with E_NOINTERFACE where the object does not have it
     */
    public static <T> T as(Object object, Class<T> type) {
        return Runtime.instance().as(object, type);
    }

    /** Whether two references are to one object. */
    public static boolean isSame(Object one, Object other) {
        return one.equals(other);
    }

    /**
     * Gives a reference back at once. It cannot be used any more; those that nobody holds are given back by themselves.
     *
     * @param object a proxy; any other object is left alone
     */
    public static void release(Object object) {
        Runtime.instance().release(object);
    }

    /**
     * Does some work whose calls have to be done within a time; 30 seconds where nobody says otherwise.
     *
     * @throws Exception whatever the work throws; calls that are late throw an {@link RpcException} with RPC_E_TIMEOUT
     */
    public static <R> R within(Duration time, Callable<R> work) throws Exception {
        return Runtime.instance().within(time, work);
    }

    /**
     * Memory that calls to other processes of this host pass by reference. It takes pages as they are touched.
     *
     * @throws RpcException with E_INVALIDARG for no bytes, or more than 64 TiB; E_FAIL where the host has no room
     */
    public static SharedMemory share(long bytes, SharedMemory.Access access) {
        return Runtime.instance().share(bytes, access);
    }

    /** The connections that this process has now. */
    public static Connections connections() {
        return Runtime.instance().connections();
    }

    /** How this process waits in connections that are made from now on; {@link Waiting#ADAPTIVE} unless told. */
    public static void setWaiting(Waiting waiting) {
        Runtime.instance().setWaiting(waiting);
    }
}
