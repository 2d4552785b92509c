package obvia.rmi;

import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.rmi.AlreadyBoundException;
import java.rmi.NotBoundException;
import java.rmi.Remote;
import java.rmi.RemoteException;

/** Objects by names as {@link java.rmi.Naming} has them: {@code //localhost/calc}, {@code rmi://localhost:1099/calc}, {@code calc}. */
public final class Naming {
    private Naming() {}

    private record Parsed(Registry registry, String name) {}

    /**
     * The object that a process exports by a name. RMI sends the class of the proxy along; here the caller says by which interface it calls.
     *
     * @throws NotBoundException where no process serves the name
     * @throws RemoteException where the object has no such interface, means something else by it, or cannot be reached
     * @throws MalformedURLException where it is no name
     */
    public static <T extends Remote> T lookup(Class<T> type, String name) throws NotBoundException, MalformedURLException, RemoteException {
        Parsed parsed = parse(name);
        return parsed.registry.lookup(type, parsed.name);
    }

    /**
     * Lets others look an object up by a name, as long as this process runs or until {@link #unbind}.
     *
     * @throws AlreadyBoundException where a process serves the name
     */
    public static void bind(String name, Remote object) throws AlreadyBoundException, MalformedURLException, RemoteException {
        Parsed parsed = parse(name);
        parsed.registry.bind(parsed.name, object);
    }

    /** The same in place of what this process has bound by the name before; another process's name is not taken. */
    public static void rebind(String name, Remote object) throws RemoteException, MalformedURLException {
        Parsed parsed = parse(name);
        parsed.registry.rebind(parsed.name, object);
    }

    /**
     * Ends what this process has bound by a name.
     *
     * @throws NotBoundException where it has not
     */
    public static void unbind(String name) throws RemoteException, NotBoundException, MalformedURLException {
        Parsed parsed = parse(name);
        parsed.registry.unbind(parsed.name);
    }

    private static Parsed parse(String name) throws MalformedURLException, RemoteException {
        try {
            // A port alone is no authority to URIs.
            URI uri = new URI(name.replaceFirst("^(rmi:)?//:", "//localhost:"));
            boolean isPlain = uri.getUserInfo() == null && uri.getQuery() == null && uri.getFragment() == null && !uri.isOpaque();
            if (!isPlain || uri.getScheme() != null && !uri.getScheme().equals("rmi") || uri.getPath() == null) {
                throw new MalformedURLException("`" + name + "` is no name: //HOST:PORT/NAME is, and what is before NAME may be left out");
            }
            String path = uri.getPath();
            Registry registry = LocateRegistry.getRegistry(uri.getHost(), uri.getPort() < 0 ? Registry.REGISTRY_PORT : uri.getPort());
            return new Parsed(registry, path.startsWith("/") ? path.substring(1) : path);
        } catch (URISyntaxException e) {
            MalformedURLException malformed = new MalformedURLException("`" + name + "` is no name: " + e.getMessage());
            malformed.initCause(e);
            throw malformed;
        }
    }
}
