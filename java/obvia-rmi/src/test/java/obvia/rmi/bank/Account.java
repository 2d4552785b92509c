package obvia.rmi.bank;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** An object that a method of another object returns. */
public interface Account extends Remote {
    String name() throws RemoteException;

    long balance() throws RemoteException;
}
