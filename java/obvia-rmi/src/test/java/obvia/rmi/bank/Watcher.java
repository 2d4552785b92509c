package obvia.rmi.bank;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** A callback object of a client. */
public interface Watcher extends Remote {
    void changed(String account, long balance) throws RemoteException;
}
