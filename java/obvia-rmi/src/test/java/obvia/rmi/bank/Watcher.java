package obvia.rmi.bank;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** What a client passes to be called. */
public interface Watcher extends Remote {
    void changed(String account, long balance) throws RemoteException;
}
