package obvia.rmi.bank;

import java.rmi.Remote;
import java.rmi.RemoteException;
import java.util.List;

/** An interface as programs write it for RMI. */
public interface Bank extends Remote {
    long balance(String account) throws RemoteException;

    void deposit(String account, long amount) throws RemoteException;

    void withdraw(String account, long amount) throws RemoteException, OverdrawnException;

    String[] accounts() throws RemoteException;

    List<Entry> history(String account) throws RemoteException;

    int book(Entry[] entries) throws RemoteException;

    void watch(Watcher watcher) throws RemoteException;

    Account open(String account) throws RemoteException;
}
