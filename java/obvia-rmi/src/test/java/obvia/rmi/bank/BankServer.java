package obvia.rmi.bank;

import java.rmi.Remote;
import java.rmi.RemoteException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * An implementation as programs write it for RMI, except for the export of the objects that its
 * methods return.
 */
public final class BankServer implements Bank {
    private final Map<String, Long> balances = new ConcurrentSkipListMap<>();
    private final List<Entry> history = new CopyOnWriteArrayList<>();
    private final Exporter exporter;
    private volatile Watcher watcher;

    /** The function that exports an object. */
    @FunctionalInterface
    public interface Exporter {
        /**
         * Exports an object as {@code UnicastRemoteObject.exportObject(object, 0)} of RMI or of
         * obvia does.
         */
        Remote export(Remote object) throws RemoteException;
    }

    /** Creates a bank that exports its objects by {@code exporter}. */
    public BankServer(Exporter exporter) {
        this.exporter = exporter;
    }

    @Override
    public long balance(String account) {
        return balances.getOrDefault(account, 0L);
    }

    @Override
    public void deposit(String account, long amount) throws RemoteException {
        history.add(new Entry(account, Math.abs(amount), amount < 0 ? Entry.Kind.OUT : Entry.Kind.IN));
        long balance = balances.merge(account, amount, Math::addExact);
        if (watcher != null) {
            watcher.changed(account, balance);
        }
    }

    @Override
    public void withdraw(String account, long amount) throws RemoteException, OverdrawnException {
        if (balance(account) < amount) {
            throw new OverdrawnException(account);
        }
        deposit(account, -amount);
    }

    @Override
    public String[] accounts() {
        return balances.keySet().toArray(String[]::new);
    }

    @Override
    public List<Entry> history(String account) {
        return history.stream().filter(entry -> entry.account().equals(account)).toList();
    }

    @Override
    public int book(Entry[] entries) throws RemoteException {
        for (Entry entry : entries) {
            deposit(entry.account(), entry.kind() == Entry.Kind.IN ? entry.amount() : -entry.amount());
        }
        return history.size();
    }

    @Override
    public void watch(Watcher watcher) {
        this.watcher = watcher;
    }

    @Override
    public Account open(String account) throws RemoteException {
        balances.putIfAbsent(account, 0L);
        return (Account) exporter.export(new Account() {
            @Override
            public String name() {
                return account;
            }

            @Override
            public long balance() {
                return balances.get(account);
            }
        });
    }
}
