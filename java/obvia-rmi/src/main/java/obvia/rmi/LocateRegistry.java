package obvia.rmi;

import java.rmi.RemoteException;
import java.util.Set;

/** Registries, as {@link java.rmi.registry.LocateRegistry} has them. There is no process or port behind one: names belong to the processes that bind them. */
public final class LocateRegistry {
    private static final Set<String> HERE = Set.of("", "localhost", "127.0.0.1", "::1", "[::1]");

    private LocateRegistry() {}

    /** The names of this host. */
    public static Registry getRegistry() throws RemoteException {
        return getRegistry(Registry.REGISTRY_PORT);
    }

    /** Those of what is a port to RMI: see {@link Registry}. */
    public static Registry getRegistry(int port) throws RemoteException {
        return getRegistry(null, port);
    }

    /** Those of a host. */
    public static Registry getRegistry(String host) throws RemoteException {
        return getRegistry(host, Registry.REGISTRY_PORT);
    }

    /**
     * Those of a host.
     *
     * @throws RemoteException for any host but this one
     */
    public static Registry getRegistry(String host, int port) throws RemoteException {
        if (host != null && !HERE.contains(host)) {
            throw new RemoteException("`" + host + "`: names of other hosts are not looked up here; Obvia.connect(binding).bind(type, name) reaches them where it can");
        }
        return new Registry(port <= 0 ? Registry.REGISTRY_PORT : port);
    }

    /** The same: nothing has to be started. */
    public static Registry createRegistry(int port) throws RemoteException {
        return getRegistry(port);
    }
}
