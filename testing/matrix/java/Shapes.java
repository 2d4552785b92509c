package matrix;

import deep.Any;
import deep.Box;
import deep.Choice;
import deep.Entry;
import deep.IPeer;
import deep.IShapes;
import deep.Item;
import deep.Node;
import deep.Pair;
import deep.Samples;
import deep.Tree;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import obvia.Bytes;
import obvia.Doubles;
import obvia.Hresult;
import obvia.Ints;
import obvia.RpcException;
import obvia.Shorts;

/** An object whose methods work on structures with pointers. */
final class Shapes implements IShapes {
    private final List<Entry> entries = new ArrayList<>();
    private final AtomicInteger noted = new AtomicInteger();

    /** Returns the items of a list. */
    static List<Item> items(Item list) {
        List<Item> items = new ArrayList<>();
        for (Item item = list; item != null; item = item.next()) {
            items.add(item);
        }
        return items;
    }

    /** Returns a list of these values, with a name for each. */
    private static Item listOf(int... values) {
        Item list = null;
        for (int i = values.length; i-- > 0; ) {
            list = Item.of(values[i], values[i] % 2 == 0, "item " + values[i], list);
        }
        return list;
    }

    @Override
    public SumResult sum(Item list) {
        List<Item> items = items(list);
        List<String> names = items.stream().map(Item::name).filter(name -> name != null).toList();
        long marked = items.stream().filter(Item::marked).count();
        return new SumResult(items.stream().mapToLong(Item::value).sum(), String.join(", ", names) + "; " + marked + " marked");
    }

    @Override
    public Item range(int first, int count) {
        return listOf(IntStream.range(first, first + count).toArray());
    }

    @Override
    public Item reverse(Item list) {
        int[] values = items(list).reversed().stream().mapToInt(Item::value).toArray();
        if (IntStream.of(values).anyMatch(value -> value == -1)) {
            throw new RpcException(Hresult.E_INVALIDARG);
        }
        return listOf(values);
    }

    @Override
    public Item bump(Item item, int by) {
        String name = item.name() == null ? null : item.name() + "+" + by;
        return Item.of(item.value() + by, !item.marked(), name, item.next());
    }

    @Override
    public Tree insert(Tree tree, long key) {
        return grown(tree, key);
    }

    private static Tree grown(Tree tree, long key) {
        if (tree == null) {
            return Tree.of(key, null, null);
        }
        return key < tree.key()
                ? Tree.of(tree.key(), grown(tree.left(), key), tree.right())
                : Tree.of(tree.key(), tree.left(), grown(tree.right(), key));
    }

    @Override
    public Node ring(int count) {
        Node.Rec first = null;
        Node.Rec last = null;
        for (int i = 0; i < count; i++) {
            Node.Rec node = Node.of(i, null, null);
            first = first == null ? node : first;
            node.setFirst(first);
            node.setSecond(first);
            if (last != null) {
                last.setFirst(node);
            }
            last = node;
        }
        return first;
    }

    @Override
    public int walk(Node start, int steps) {
        Node node = start;
        for (int i = 0; i < steps && node != null; i++) {
            node = node.first();
        }
        if (node == null) {
            throw new RpcException(Hresult.E_POINTER);
        }
        return node.number();
    }

    @Override
    public boolean shared(Node a, Node b) {
        return a != null && a.equals(b);
    }

    @Override
    public double average(Samples samples) {
        double sum = 0;
        int flagged = 0;
        for (int i = 0; samples.values() != null && i < samples.values().size(); i++) {
            if (samples.flags() != null && samples.flags().get(i) != 0) {
                sum += samples.values().get(i);
                flagged++;
            }
        }
        int table = 0;
        for (int i = 0; samples.table() != null && i < samples.table().size(); i++) {
            table += samples.table().get(i);
        }
        return sum / Math.max(flagged, 1) + table + IntStream.of(samples.tail().toArray()).sum();
    }

    @Override
    public Samples sampled(int count) {
        byte[] flags = new byte[count];
        Arrays.fill(flags, (byte) 1);
        Doubles values = Doubles.of(IntStream.range(0, count).asDoubleStream().toArray());
        Shorts table = Shorts.of(new short[] {1, 2, 3, 4, 5, 6, 7});
        return Samples.of(values, Bytes.of(flags), (short) 2, (short) 3, table, 3, Ints.of(1, 2, 3));
    }

    @Override
    public String describe(int kind, Any value) {
        String text = switch (value) {
            case Any.Number(int number) -> "Number(" + number + ")";
            case Any.Real(double real) -> "Real(" + real + ")";
            case Any.Text(String of) -> of == null ? "Text(None)" : "Text(Some(\"" + of + "\\0\"))";
            case Any.List_(Item list) -> "Items(" + items(list).size() + ")";
            case Any.Color_(int which, var color) -> "Color(" + which + ", Color(" + color.value() + "))";
            case Any.Default(int which) -> "Other(" + which + ")";
        };
        return kind + ": " + text;
    }

    @Override
    public long choose(Choice choice) {
        return switch (choice) {
            case Choice.Number(int number) -> number;
            case Choice.Tree_(Tree tree) -> sum(tree);
            case Choice.Blue() -> -1;
        };
    }

    private static long sum(Tree tree) {
        return tree == null ? 0 : tree.key() + sum(tree.left()) + sum(tree.right());
    }

    @Override
    public Box flip(Box box) {
        return Box.of(box.color(), box.items().reversed(), box.trees().reversed(), box.choice(), 10 - box.digit());
    }

    @Override
    public synchronized void put(List<Entry> given) {
        for (Entry entry : given) {
            boolean isList = entry.value() instanceof Any.List_;
            // Only the length of a list is stored.
            Any value = entry.value() instanceof Any.List_(Item list) ? new Any.Number(items(list).size()) : entry.copy().value();
            entries.add(Entry.of(entry.name(), isList ? 1 : entry.kind(), value));
        }
    }

    @Override
    public synchronized List<Entry> list() {
        return List.copyOf(entries);
    }

    @Override
    public synchronized SomeResult some(int room) {
        List<Entry> some = List.copyOf(entries.subList(0, (int) Math.min(Integer.toUnsignedLong(room), entries.size())));
        return new SomeResult(some, some.size());
    }

    @Override
    public List<String> words(List<String> words) {
        return words.stream().map(word -> word == null ? null : word.toUpperCase(Locale.ROOT)).toList();
    }

    @Override
    public int meet(Pair pair) {
        int word = pair.word() == null ? 0 : pair.word().length();
        return asked(pair.left(), word) * 100 + asked(pair.right(), word);
    }

    private static int asked(IPeer peer, int value) {
        return peer == null ? 0 : peer.twice(value);
    }

    @Override
    public Pair peers(List<IPeer> peers) {
        return Pair.of(peers.isEmpty() ? null : peers.getLast(), "last and mine", new Peer(7));
    }

    @Override
    public void note(Item list) {
        noted.addAndGet(items(list).size());
    }

    @Override
    public int noted() {
        return noted.get();
    }

    @Override
    public TakeResult take(int count) {
        // For a count of zero, the method returns more items than there is room for.
        int offered = count == 0 ? 3 : count;
        List<Item> items = new ArrayList<>();
        for (int value = 1; value <= offered; value++) {
            items.add(value <= 3 ? Item.of(value, false, "item " + value, null) : Item.of(0, false, null, null));
        }
        return new TakeResult(3, items);
    }
}
