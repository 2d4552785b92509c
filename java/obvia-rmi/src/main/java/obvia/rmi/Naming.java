package obvia.rmi;

import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.rmi.AlreadyBoundException;
import java.rmi.NotBoundException;
import java.rmi.Remote;
import java.rmi.RemoteException;

/**
 * Objects by name, as in {@link java.rmi.Naming}: {@code //localhost/calc},
 * {@code rmi://localhost:1099/calc}, {@code calc}.
 */
public final class Naming {
    private Naming() {}

    private record Parsed(Registry registry, String name) {}

    /**
     * Looks up the object that a process exports under a name. RMI transmits the class of the
     * proxy; here the caller names the interface.
     *
     * @throws NotBoundException if no process serves the name
     * @throws RemoteException if the object lacks the interface, has another version of it, or
     *     cannot be reached
     * @throws MalformedURLException if the name is malformed
     */
    public static <T extends Remote> T lookup(Class<T> type, String name) throws NotBoundException, MalformedURLException, RemoteException {
        Parsed parsed = parse(name);
        return parsed.registry.lookup(type, parsed.name);
    }

    /**
     * Binds an object to a name until this process ends or calls {@link #unbind}.
     *
     * @throws AlreadyBoundException if a process serves the name
     */
    public static void bind(String name, Remote object) throws AlreadyBoundException, MalformedURLException, RemoteException {
        Parsed parsed = parse(name);
        parsed.registry.bind(parsed.name, object);
    }

    /**
     * Binds an object to a name and replaces the previous binding of this process. A name that
     * belongs to another process is not taken over.
     */
    public static void rebind(String name, Remote object) throws RemoteException, MalformedURLException {
        Parsed parsed = parse(name);
        parsed.registry.rebind(parsed.name, object);
    }

    /**
     * Ends a binding of this process.
     *
     * @throws NotBoundException if this process has not bound the name
     */
    public static void unbind(String name) throws RemoteException, NotBoundException, MalformedURLException {
        Parsed parsed = parse(name);
        parsed.registry.unbind(parsed.name);
    }

    private static Parsed parse(String name) throws MalformedURLException, RemoteException {
        try {
            // The URI syntax has no authority that consists of a port alone.
            URI uri = new URI(name.replaceFirst("^(rmi:)?//:", "//localhost:"));
            boolean isPlain = uri.getUserInfo() == null && uri.getQuery() == null && uri.getFragment() == null && !uri.isOpaque();
            if (!isPlain || uri.getScheme() != null && !uri.getScheme().equals("rmi") || uri.getPath() == null) {
                throw new MalformedURLException("`" + name + "` is not a name: expected //HOST:PORT/NAME, or NAME alone");
            }
            String path = uri.getPath();
            Registry registry = LocateRegistry.getRegistry(uri.getHost(), uri.getPort() < 0 ? Registry.REGISTRY_PORT : uri.getPort());
            return new Parsed(registry, path.startsWith("/") ? path.substring(1) : path);
        } catch (URISyntaxException e) {
            MalformedURLException malformed = new MalformedURLException("`" + name + "` is not a name: " + e.getMessage());
            malformed.initCause(e);
            throw malformed;
        }
    }
}
