package first;

import java.util.List;
import obvia.Remote;

/** An interface that is written in Java, with one of each thing that it may pass. */
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

    /** What has parts, as a tree. */
    record Entry(long amount, String what, Kind kind, byte[] receipt, List<Entry> parts) {}

    /** A list, one by one. */
    record Item(int value, Item next) {}

    /** What a client passes to be called. */
    interface Watcher extends Remote {
        /** There is something new. */
        void posted(String what, long amount);
    }

    /** There is none. */
    final class UnknownException extends Exception {
        private static final long serialVersionUID = 1;

        /** What there is none of. */
        public UnknownException(String what) {
            super(what);
        }
    }
}
