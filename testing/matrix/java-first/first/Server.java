package first;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import obvia.Export;
import obvia.Obvia;
import obvia.runtime.InterfaceInfo;

/** Prints the fingerprints of interfaces, and serves a ledger under a name until the input ends. */
public final class Server implements Ledger {
    private final List<Entry> entries = new ArrayList<>();

    private Server() {}

    /** Takes the name as its argument. */
    public static void main(String[] arguments) throws Exception {
        for (Class<?> type : List.of(Ledger.class, Ledger.Watcher.class)) {
            InterfaceInfo<?> info = InterfaceInfo.of(type);
            System.out.printf("%s %016x%016x%n", info.name(), info.fingerprintHigh(), info.fingerprintLow());
        }
        Export export = Obvia.export(new Server(), Ledger.class, arguments[0]);
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // Waits for the input's end.
        }
        export.close();
    }

    @Override
    public int add(int a, int b) {
        return a + b;
    }

    @Override
    public double[] scale(double[] values, double by) {
        return Arrays.stream(values).map(value -> value * by).toArray();
    }

    @Override
    public boolean isNext(Kind kind, char letter, Kind next) {
        return letter == 'ä' && kind.ordinal() + 1 == next.ordinal();
    }

    @Override
    public String greet(String name) {
        return "hello, " + name;
    }

    @Override
    public synchronized long post(Entry entry, Watcher watcher) {
        entries.add(entry);
        if (watcher != null) {
            watcher.posted(entry.what(), entry.amount());
        }
        return total(entry);
    }

    private static long total(Entry entry) {
        long parts = entry.parts() == null ? 0 : entry.parts().stream().mapToLong(Server::total).sum();
        return entry.amount() + parts + (entry.receipt() == null ? 0 : entry.receipt().length);
    }

    @Override
    public synchronized List<Entry> find(String what) throws UnknownException {
        List<Entry> found = entries.stream().filter(entry -> entry.what().equals(what)).toList();
        if (found.isEmpty()) {
            throw new UnknownException(what);
        }
        return found;
    }

    @Override
    public long sum(Item head) {
        long sum = 0;
        for (Item item = head; item != null; item = item.next()) {
            sum += item.value();
        }
        return sum;
    }

    @Override
    public Item range(int first, int count) {
        Item head = null;
        for (int at = count; at-- > 0; ) {
            head = new Item(first + at, head);
        }
        return head;
    }
}
