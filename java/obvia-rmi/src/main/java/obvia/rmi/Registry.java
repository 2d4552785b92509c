package obvia.rmi;

import java.rmi.AccessException;
import java.rmi.AlreadyBoundException;
import java.rmi.NotBoundException;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import obvia.Export;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;

/**
 * A registry of names, as in {@link java.rmi.registry.Registry}.
 *
 * <p>{@link Obvia#bind} and programs in other languages use the same names. A port other than 1099
 * becomes part of the name: for {@link Obvia#bind}, the name of {@code calc} at port 2001 is
 * {@code 2001.calc}.
 */
public final class Registry {
    /** The default port of RMI. */
    public static final int REGISTRY_PORT = java.rmi.registry.Registry.REGISTRY_PORT;

    /** The bindings of this process. A thread that changes the map holds the map's monitor. */
    private static final Map<Key, Bound> BOUND = new ConcurrentHashMap<>();

    private final int port;

    private record Key(int port, String name) {
        /** Returns the name that {@link Obvia#bind} uses. */
        String known() {
            return port == REGISTRY_PORT ? name : port + "." + name;
        }
    }

    private record Bound(Export export, Remote object) {}

    Registry(int port) {
        this.port = port;
    }

    /** See {@link Naming#lookup}. */
    public <T extends Remote> T lookup(Class<T> type, String name) throws NotBoundException, RemoteException {
        try {
            return Obvia.bind(type, new Key(port, name).known());
        } catch (RpcException e) {
            if (e.result() == Hresult.RPC_S_SERVER_UNAVAILABLE) {
                NotBoundException unbound = new NotBoundException(name);
                unbound.initCause(e);
                throw unbound;
            }
            throw failed(e);
        }
    }

    /** See {@link Naming#bind}. */
    public void bind(String name, Remote object) throws AlreadyBoundException, RemoteException {
        Key key = new Key(port, name);
        try {
            synchronized (BOUND) {
                BOUND.put(key, new Bound(export(key.known(), object, type(object)), object));
            }
        } catch (RpcException e) {
            if (e.result() == Hresult.RPC_S_DUPLICATE_ENDPOINT) {
                AlreadyBoundException bound = new AlreadyBoundException(name);
                bound.initCause(e);
                throw bound;
            }
            throw failed(e);
        }
    }

    /**
     * See {@link Naming#rebind}. A concurrent lookup finds either the old object or the new one.
     */
    public void rebind(String name, Remote object) throws RemoteException {
        Key key = new Key(port, name);
        try {
            synchronized (BOUND) {
                Bound before = BOUND.get(key);
                if (before == null) {
                    bind(name, object);
                } else {
                    rebind(before.export, object, type(object));
                    BOUND.put(key, new Bound(before.export, object));
                }
            }
        } catch (RpcException e) {
            throw failed(e);
        } catch (AlreadyBoundException e) {
            throw new AccessException("`" + name + "` is bound by another process, and only that process can unbind it", e);
        }
    }

    /** See {@link Naming#unbind}. */
    public void unbind(String name) throws NotBoundException, RemoteException {
        synchronized (BOUND) {
            Bound before = BOUND.remove(new Key(port, name));
            if (before == null) {
                throw new NotBoundException(name);
            }
            before.export.close();
        }
    }

    /** Returns the names that this process has bound in this registry. */
    public String[] list() throws RemoteException {
        return BOUND.keySet().stream()
                .filter(key -> key.port == port)
                .map(Key::name)
                .sorted()
                .toArray(String[]::new);
    }

    /** Removes all bindings of an object. Returns whether there were any. */
    static boolean unbindAll(Remote object) {
        synchronized (BOUND) {
            List<Map.Entry<Key, Bound>> own = BOUND.entrySet().stream().filter(entry -> entry.getValue().object == object).toList();
            for (Map.Entry<Key, Bound> entry : own) {
                BOUND.remove(entry.getKey());
                entry.getValue().export.close();
            }
            return !own.isEmpty();
        }
    }

    private static RemoteException failed(RpcException why) {
        return new RemoteException(why.getMessage(), why);
    }

    /** Returns the interface by which an object is exported. */
    private static Class<?> type(Remote object) throws RemoteException {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> type = object.getClass(); type != null; type = type.getSuperclass()) {
            collect(type, types);
        }
        if (types.isEmpty()) {
            throw new RemoteException("`" + object.getClass().getName() + "` has no interface that extends java.rmi.Remote");
        }
        try {
            // Loading all interfaces makes them known to the runtime, so that clients can look the
            // object up by any of them.
            types.forEach(InterfaceInfo::of);
        } catch (IllegalArgumentException e) {
            throw new RemoteException("a remote interface was compiled without obvia-processor: " + e.getMessage(), e);
        }
        return types.get(0);
    }

    private static <T> Export export(String name, Remote object, Class<T> type) {
        return Obvia.export(type.cast(object), type, name);
    }

    private static <T> void rebind(Export export, Remote object, Class<T> type) {
        export.rebind(type.cast(object), type);
    }

    /**
     * Collects the remote interfaces of a class: direct interfaces before the interfaces that they
     * extend.
     */
    private static void collect(Class<?> type, List<Class<?>> found) {
        for (Class<?> above : type.getInterfaces()) {
            if (above != Remote.class && Remote.class.isAssignableFrom(above) && !found.contains(above)) {
                found.add(above);
                collect(above, found);
            }
        }
    }
}
