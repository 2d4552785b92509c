package matrix;

import deep.Any;
import deep.Bunch;
import deep.Choice;
import deep.IDeep;
import deep.IPeer;
import deep.Item;
import deep.Names;
import deep.Record_;
import deep.Samples;
import deep.Tree;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import obvia.Doubles;
import obvia.Guid;
import obvia.Ints;
import obvia.Remote;
import obvia.RpcException;

/** An object whose methods take, change and return structures and arrays with pointers. */
final class Deep implements IDeep {
    @Override
    public SwapResult swap(IPeer left, IPeer right) {
        return new SwapResult(right != null ? right : new Peer(11), left);
    }

    @Override
    public String rename(String name, String suffix) {
        return suffix.isEmpty() ? null : (name == null ? "?" : name) + suffix;
    }

    @Override
    public List<Item> sort(List<Item> items) {
        return items.stream().sorted(Comparator.comparing(Item::value)).toList();
    }

    @Override
    public TrimResult trim(int count, List<Item> items, int by) {
        List<Item> left = new ArrayList<>(items);
        for (int i = 0; i < by; i++) {
            left.set(count - 1 - i, Item.of(0, false, null, null));
        }
        return new TrimResult(count - by, left);
    }

    @Override
    public PartResult part(int room, int used, List<Item> items) {
        List<Item> more = new ArrayList<>(items);
        if (used < room) {
            more.add(Item.of(used, false, "more", null));
        }
        return new PartResult(more.size(), more);
    }

    @Override
    public List<IPeer> objects(List<IPeer> peers) {
        List<IPeer> turned = new ArrayList<>(peers);
        Collections.reverse(turned);
        if (!turned.isEmpty()) {
            turned.set(0, null);
        }
        return turned;
    }

    @Override
    public FindResult find(Guid iid, Names names) {
        Remote found = names.peers() == null ? null : names.peers().stream().filter(Objects::nonNull).findFirst().orElse(null);
        return new FindResult(found, names);
    }

    @Override
    public Record_ store(Record_ record) {
        return record;
    }

    @Override
    public Bunch turn(Bunch bunch) {
        return Bunch.of(bunch.peers().reversed(), bunch.tags().reversed());
    }

    @Override
    public PickResult pick(int kind, Any value, Choice choice) {
        if (value instanceof Any.Text(String text) && text != null) {
            return new PickResult(4, new Any.List_(Item.of(5, true, text, null)), new Choice.Tree_(Tree.of(77, null, Tree.of(78, null, null))));
        }
        double half = value instanceof Any.Number(int number) ? number / 2.0 : -1;
        return new PickResult(2, new Any.Real(half), new Choice.Number(kind));
    }

    @Override
    public long partly(int n, Ints values) {
        long sum = n;
        for (int value : values.toArray()) {
            sum += value;
        }
        return sum;
    }

    @Override
    public int maybe(Integer value) {
        return value == null ? -1 : value * 2;
    }

    @Override
    public String both(int from, int[] numbers) {
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = from + i;
        }
        return "both";
    }

    @Override
    public FailResult fail(Item list, String text, int code) {
        if (code < 0) {
            throw new RpcException(code, "as it was told");
        }
        // The runtime refuses a structure that violates its declaration.
        Samples samples = Samples.of(Doubles.of(1, 2), null, (short) 0, (short) 0, null, 9, Ints.of());
        return new FailResult(Item.of(1, true, text, null), samples, null);
    }
}
