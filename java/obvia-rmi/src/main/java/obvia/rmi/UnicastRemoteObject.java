package obvia.rmi;

import java.rmi.NoSuchObjectException;
import java.rmi.Remote;
import java.rmi.RemoteException;

/**
 * The replacement for {@link java.rmi.server.UnicastRemoteObject} as a base class. A base class is
 * optional: objects with a remote interface are passed by reference without an explicit export.
 */
public abstract class UnicastRemoteObject implements Remote {
    /** Creates a remote object. */
    protected UnicastRemoteObject() throws RemoteException {}

    /** Creates a remote object; the port is ignored. */
    protected UnicastRemoteObject(int port) throws RemoteException {}

    /** Returns the object itself, which can be passed and bound as it is; the port is ignored. */
    public static <T extends Remote> T exportObject(T object, int port) throws RemoteException {
        return object;
    }

    /**
     * Removes the bindings of an object in this process. References of clients stay valid.
     *
     * @param force ignored: calls in progress finish in any case
     * @return true
     * @throws NoSuchObjectException if the object is not bound
     */
    public static boolean unexportObject(Remote object, boolean force) throws NoSuchObjectException {
        if (!Registry.unbindAll(object)) {
            throw new NoSuchObjectException("the object is not bound to a name");
        }
        return true;
    }
}
