package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import obvia.Bytes;
import obvia.Doubles;
import obvia.Ints;
import obvia.Occupancy;
import obvia.Retained;
import obvia.RpcException;
import obvia.Shorts;
import trees.Any;
import trees.Big;
import trees.Box;
import trees.Choice;
import trees.Chunk;
import trees.Color;
import trees.Crowd;
import trees.Digits;
import trees.Entry;
import trees.Holder;
import trees.Huge;
import trees.ITrees;
import trees.Item;
import trees.Node;
import trees.Pair;
import trees.Point;
import trees.Row;
import trees.Samples;
import trees.Several;
import trees.Tree;
import trees.Weighed;

/** A server of structures that contain pointers. */
public final class Trees implements ITrees {
    /** The actions of {@link #probe}. */
    static final int STORE = 0;
    static final int READ_LATE = 1;
    static final int RETAIN = 2;
    static final int SUM_RETAINED = 3;
    static final int CLOSE = 4;
    static final int DROP = 5;
    static final int LEAKS = 6;
    static final int OTHER_THREAD = 7;
    static final int HELD = 8;
    static final int RECEIVED = 9;
    static final int SUM_STORED = 10;
    static final int CALL_MET = 11;

    private volatile long noted;
    private volatile List<Entry> entries = List.of();
    private Item stored;
    private Retained<Item> kept;
    private Retained<Samples> keptSamples;
    private Retained<Pair> met;

    public static long total(Item list) {
        long sum = 0;
        for (Item item = list; item != null; item = item.next()) {
            sum += item.value();
        }
        return sum;
    }

    @Override
    public SumResult sum(Item list) {
        StringBuilder names = new StringBuilder();
        for (Item item = list; item != null; item = item.next()) {
            if (item.name() != null) {
                names.append(item.marked() ? "*" : "").append(item.name());
            }
        }
        return new SumResult(total(list), names.isEmpty() ? null : names.toString());
    }

    @Override
    public Item range(int first, int count) {
        Item list = null;
        for (int i = count; i-- > 0; ) {
            list = Item.of(first + i, false, null, list);
        }
        return list;
    }

    @Override
    public Item reverse(Item list) {
        Item reversed = null;
        for (Item item = list; item != null; item = item.next()) {
            reversed = Item.of(item.value(), item.marked(), item.name(), reversed);
        }
        return reversed;
    }

    @Override
    public Item bump(Item item, int by) {
        return Item.of(item.value() + by, true, item.name(), item.next());
    }

    @Override
    public Tree insert(Tree tree, long key) {
        return inserted(tree, key);
    }

    private static Tree inserted(Tree tree, long key) {
        if (tree == null) {
            return Tree.of(key, null, null);
        }
        return key < tree.key()
                ? Tree.of(tree.key(), inserted(tree.left(), key), tree.right())
                : Tree.of(tree.key(), tree.left(), inserted(tree.right(), key));
    }

    @Override
    public double average(Samples samples) {
        double sum = samples.flags() == null ? 0 : samples.flags().size();
        for (int i = 0; samples.values() != null && i < samples.values().size(); i++) {
            sum += samples.values().get(i);
        }
        return sum + samples.tail().size();
    }

    @Override
    public Samples sampled(int count) {
        double[] values = new double[count];
        byte[] flags = new byte[count];
        for (int i = 0; i < count; i++) {
            values[i] = i;
            flags[i] = (byte) i;
        }
        return Samples.of(Doubles.of(values), Bytes.of(flags), (short) 2, (short) 3, Shorts.of(new short[7]), 2, Ints.of(5, 6));
    }

    @Override
    public Holder hold(Holder in) {
        return in;
    }

    @Override
    public AllResult all(List<Item> items, int[] xs, Point[] ps, Point maybe, String text) {
        List<Item> back = new ArrayList<>(items);
        back.add(Item.of(ps.length, maybe != null, text, null));
        return new AllResult(back, xs);
    }

    @Override
    public void note(Item list) {
        noted = total(list);
    }

    @Override
    public int noted() {
        return (int) noted;
    }

    @Override
    public Node ring(int count) {
        Node.Rec first = Node.of(0, null, null, null, null, null);
        Node.Rec last = first;
        for (int i = 1; i < count; i++) {
            Node.Rec next = Node.of(i, "n" + i, null, last, first.item(), null);
            last.setFirst(next);
            last = next;
        }
        last.setFirst(first);
        first.setSecond(last);
        return first;
    }

    @Override
    public int walk(Node start, int steps) {
        Node node = start;
        for (int i = 0; i < steps; i++) {
            node = node.first();
        }
        return node.number();
    }

    @Override
    public boolean shared(Node a, Node b) {
        return a.equals(b);
    }

    @Override
    public TellResult tell(Item list, ITrees to) {
        to.note(list);
        return new TellResult(list, to);
    }

    @Override
    public MeetResult meet(Pair pair, ITrees last) {
        if (pair.left() != null) {
            pair.left().note(Item.of(pair.word().length(), false, null, null));
        }
        met = pair.retain();
        return new MeetResult(pair.right(), Pair.of(last, pair.word(), pair.left()));
    }

    @Override
    public Crowd gather(Crowd crowd) {
        List<ITrees> all = crowd.all() == null ? null : crowd.all().reversed();
        return Crowd.of(all, crowd.two().reversed(), crowd.iid(), crowd.other());
    }

    @Override
    public StoreResult store(Row row, Digits digits) {
        if (digits == null) {
            return new StoreResult(row, null);
        }
        Ints twice = Ints.of(Arrays.stream(digits.all().toArray()).map(one -> 2 * one).toArray());
        return new StoreResult(row, Digits.of(digits.room(), digits.count(), twice));
    }

    @Override
    public List<Item> sort(List<Item> items) {
        // For one item, the result is that of a faulty server.
        return items.size() == 1 ? List.of() : items.stream().sorted(Comparator.comparing(Item::value)).toList();
    }

    @Override
    public Chunk chain(Chunk first, Chunk second) {
        return first == null ? second : append(first, second);
    }

    private static Chunk append(Chunk first, Chunk second) {
        Chunk next = first.next() == null ? second : append(first.next(), second);
        return Chunk.of(
                first.part(),
                first.marked(),
                first.color(),
                first.data(),
                first.rest(),
                first.whole(),
                first.name(),
                first.beyond(),
                first.mark(),
                first.values(),
                next);
    }

    @Override
    public PartResult part(int room, int used, List<Item> items) {
        List<Item> more = new ArrayList<>(items);
        more.add(Item.of(used, false, "more", null));
        return new PartResult(more.size(), more);
    }

    @Override
    public SomeResult some(int room) {
        List<Entry> some = entries.subList(0, Math.min(room, entries.size()));
        // If `room` is 0, the result is that of a faulty server.
        return new SomeResult(some, room == 0 ? 1 : some.size());
    }

    @Override
    public Weighed weigh(Weighed given) {
        Big big = given.big() instanceof Big.Number(int number) ? new Big.Number(-number) : given.big();
        return Weighed.of(given.kind(), big, (short) (given.level() - 1), (byte) (given.more() + 2), given.any(), given.other());
    }

    @Override
    public ScaleResult scale(long kind, Big big, long which, Any any, Huge huge) {
        Big bigger = switch (big) {
            case Big.Number(int number) -> new Big.List_(5_000_000_001L, range(number, 2));
            case Big.List_(long _, Item list) -> new Big.Number(list.value());
            case Big.CaseMinus7() -> big;
            case Big.Text(long chosen, String text) -> new Big.Text(chosen, text + text);
        };
        long other = bigger.which() % 8 + which;
        Huge next = switch (huge) {
            case Huge.Item_(Item item) -> new Huge.Default(item.value());
            case Huge.Number(long number) -> new Huge.Number(number + 1);
            case Huge.Default _ -> huge;
        };
        return new ScaleResult(bigger.which(), bigger, other == 1 ? new Any.Number(1) : new Any.Default((int) other), next);
    }

    @Override
    public Any change(int kind, Any value) {
        return value instanceof Any.Number(int number) ? new Any.Number(-number) : value;
    }

    @Override
    public Several many(Several given) {
        return switch (given) {
            case Several.Three(Ints three) -> new Several.Three(Ints.of(three.get(2), three.get(1), three.get(0)));
            case Several.Two(List<Item> two) -> new Several.Two(two.reversed());
            case Several.Object_(ITrees object) -> new Several.Object_(object == null ? this : object);
        };
    }

    @Override
    public int alone(Node start) {
        return start.number();
    }

    @Override
    public Node turn(Node ring) {
        return ring.second();
    }

    @Override
    public String describe(int kind, Any value) {
        return switch (value) {
            case Any.Number(int number) -> "number " + number;
            case Any.Real(double real) -> "real " + real;
            case Any.Text(String text) -> text;
            case Any.List_(Item list) -> "list of " + total(list);
            case Any.Color_(int which, Color color) -> which + " " + color;
            case Any.Default(int which) -> "nothing for " + which;
        };
    }

    @Override
    public Any become(int kind) {
        return switch (kind) {
            case 1 -> new Any.Number(7);
            case 4 -> new Any.List_(range(1, 3));
            case 6 -> new Any.Color_(6, Color.BLUE);
            case 9 -> new Any.Number(1);
            default -> new Any.Default(kind);
        };
    }

    @Override
    public long choose(Choice choice) {
        return switch (choice) {
            case Choice.Number(int number) -> number;
            case Choice.Tree_(Tree tree) -> tree.key() + (tree.left() == null ? 0 : tree.left().key());
            case Choice.Blue() -> -1;
        };
    }

    @Override
    public Box flip(Box box) {
        return Box.of(box.color(), box.items().reversed(), box.trees().reversed(), box.choice(), 10 - box.digit(), box.choices(), box.words(), box.nodes());
    }

    @Override
    public void put(List<Entry> entries) {
        this.entries = entries.stream().map(Entry::copy).toList();
    }

    @Override
    public List<Entry> list() {
        return entries;
    }

    @Override
    public List<String> words(List<String> words) {
        return words.stream().map(word -> word == null ? null : word.toUpperCase(Locale.ROOT)).toList();
    }

    @Override
    public long probe(int what, Item list, Samples samples) {
        return switch (what) {
            case STORE -> {
                stored = list;
                yield total(list);
            }
            case READ_LATE -> {
                try {
                    yield stored.value();
                } catch (IllegalStateException e) {
                    yield -1;
                }
            }
            case SUM_STORED -> total(stored);
            case RETAIN -> {
                kept = list.retain();
                keptSamples = samples.retain();
                yield total(kept.get());
            }
            case SUM_RETAINED -> {
                long sum = total(kept.get());
                double[] values = keptSamples.get().values().toArray();
                for (double value : values) {
                    sum += (long) value;
                }
                yield sum;
            }
            case CLOSE -> {
                Item last = kept.get();
                kept.close();
                keptSamples.close();
                kept.close();
                try {
                    yield last.value();
                } catch (IllegalStateException e) {
                    yield Occupancy.retained();
                }
            }
            case DROP -> {
                Objects.requireNonNull(list.retain());
                yield 0;
            }
            case LEAKS -> {
                System.gc();
                yield Occupancy.leaks();
            }
            case OTHER_THREAD -> CompletableFuture.supplyAsync(() -> {
                        try {
                            return (long) list.value();
                        } catch (WrongThreadException e) {
                            return -2L;
                        }
                    })
                    .join();
            case CALL_MET -> {
                met.get().left().note(list);
                met.close();
                yield 0;
            }
            case HELD -> Occupancy.held();
            case RECEIVED -> Occupancy.received();
            default -> throw new RpcException(obvia.Hresult.E_INVALIDARG);
        };
    }
}
