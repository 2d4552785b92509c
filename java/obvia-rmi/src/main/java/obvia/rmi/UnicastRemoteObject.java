package obvia.rmi;

import java.rmi.NoSuchObjectException;
import java.rmi.Remote;
import java.rmi.RemoteException;

/**
 * What classes extend that extend {@link java.rmi.server.UnicastRemoteObject}. None needs to: any object that implements a remote interface goes by reference, and nothing is done
 * for that beforehand.
 */
public abstract class UnicastRemoteObject implements Remote {
    /** An object that can be called. */
    protected UnicastRemoteObject() throws RemoteException {}

    /** The same; there is no port. */
    protected UnicastRemoteObject(int port) throws RemoteException {}

    /** The object itself, which can be passed and bound as it is; there is no port. */
    public static <T extends Remote> T exportObject(T object, int port) throws RemoteException {
        return object;
    }

    /**
     * Ends the names by which this process has bound an object. References that others have stay good.
     *
     * @param force has no meaning here: calls that are under way end as usual
     * @return true
     * @throws NoSuchObjectException where it has no name
     */
    public static boolean unexportObject(Remote object, boolean force) throws NoSuchObjectException {
        if (!Registry.unbindAll(object)) {
            throw new NoSuchObjectException("the object is bound by no name");
        }
        return true;
    }
}
