package obvia.rmi.bank;

import java.rmi.Remote;
import java.rmi.RemoteException;

/** An interface as it was written for RMI. */
public interface Bank extends Remote {
    long balance(String account) throws RemoteException;

    void deposit(String account, long amount) throws RemoteException;

    void withdraw(String account, long amount) throws RemoteException, OverdrawnException;

    long total() throws RemoteException;

    void watch(Watcher watcher) throws RemoteException;

    Account open(String account) throws RemoteException;
}
