package obvia.rmi;

import java.rmi.RemoteException;
import java.util.Set;

/**
 * Registries, as in {@link java.rmi.registry.LocateRegistry}. A registry needs no process and no
 * port: a name belongs to the process that binds the name.
 */
public final class LocateRegistry {
    private static final Set<String> HERE = Set.of("", "localhost", "127.0.0.1", "::1", "[::1]");

    private LocateRegistry() {}

    /** Returns the registry of this host. */
    public static Registry getRegistry() throws RemoteException {
        return getRegistry(Registry.REGISTRY_PORT);
    }

    /** Returns the registry for an RMI port: see {@link Registry}. */
    public static Registry getRegistry(int port) throws RemoteException {
        return getRegistry(null, port);
    }

    /**
     * Returns the registry of a host.
     *
     * @throws RemoteException for any host but this host
     */
    public static Registry getRegistry(String host) throws RemoteException {
        return getRegistry(host, Registry.REGISTRY_PORT);
    }

    /**
     * Returns the registry of a host for an RMI port.
     *
     * @throws RemoteException for any host but this host
     */
    public static Registry getRegistry(String host, int port) throws RemoteException {
        if (host != null && !HERE.contains(host)) {
            throw new RemoteException("`" + host + "`: this registry has only names of this host; for names of other hosts use Obvia.connect(binding).bind(type, name)");
        }
        return new Registry(port <= 0 ? Registry.REGISTRY_PORT : port);
    }

    /** Returns the registry for a port. The registry needs no process. */
    public static Registry createRegistry(int port) throws RemoteException {
        return getRegistry(port);
    }
}
