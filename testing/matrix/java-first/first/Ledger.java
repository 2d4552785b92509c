package first;

import java.util.List;
import obvia.Remote;

/** An interface written in Java. Its methods pass each type that such an interface may have. */
public interface Ledger extends Remote {
    int add(int a, int b);

    double[] scale(double[] values, double by);

    boolean isNext(Kind kind, char letter, Kind next);

    String greet(String name);

    long post(Entry entry, Watcher watcher);

    List<Entry> find(String what) throws UnknownException;

    long sum(Item head);

    Item range(int first, int count);

    /** A kind. */
    enum Kind {
        CASH,
        CARD
    }

    /** An entry with parts, as a tree. */
    record Entry(long amount, String what, Kind kind, byte[] receipt, List<Entry> parts) {}

    /** A linked list. */
    record Item(int value, Item next) {}

    /** A callback object of a client. */
    interface Watcher extends Remote {
        /** Notifies of a new entry. */
        void posted(String what, long amount);
    }

    /** The entry does not exist. */
    final class UnknownException extends Exception {
        private static final long serialVersionUID = 1;

        /** Creates the exception for an entry that does not exist. */
        public UnknownException(String what) {
            super(what);
        }
    }
}
