package matrix;

import static matrix.Check.fails;
import static matrix.Check.same;

import deep.Any;
import deep.Box;
import deep.Choice;
import deep.Color;
import deep.Entry;
import deep.IPeer;
import deep.IShapes;
import deep.IShapes.SumResult;
import deep.Item;
import deep.Node;
import deep.Pair;
import deep.Samples;
import deep.Tree;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import obvia.Bytes;
import obvia.Doubles;
import obvia.Hresult;
import obvia.Ints;
import obvia.Shorts;

/**
 * Checks how structures with pointers are passed. The same checks run with an object of this
 * virtual machine, where the calls are plain Java calls, and with objects of other processes.
 */
final class CheckShapes {
    private CheckShapes() {}

    static void check(IShapes shapes, boolean isElsewhere) throws InterruptedException {
        listsArePassedAndReturned(shapes);
        listsAreReplaced(shapes);
        treesGrow(shapes);
        graphsKeepCyclesAndSharedNodes(shapes);
        arraysHaveTheLengthStatedInTheStructure(shapes);
        unionsHaveTheArmOfTheDiscriminant(shapes, isElsewhere);
        nestedStructuresArePassed(shapes);
        arraysOfStructuresAndStringsArePassed(shapes, isElsewhere);
        resultArraysHaveTheRequestedRoom(shapes, isElsewhere);
        objectsInStructuresAreCalled(shapes);
        callersDoNotWaitForOnewayMethods(shapes);
    }

    private static int[] values(Item list) {
        return Shapes.items(list).stream().mapToInt(Item::value).toArray();
    }

    private static void listsArePassedAndReturned(IShapes shapes) {
        same(shapes.sum(null), new SumResult(0, "; 0 marked"));
        Item first = Item.of(1, true, "eins", Item.of(-2, false, "zwei", Item.of(3, true, null, null)));
        same(shapes.sum(first), new SumResult(2, "eins, zwei; 2 marked"));
        Item list = shapes.range(10, 1000);
        same(values(list), IntStream.range(10, 1010).toArray());
        same(Shapes.items(list).get(5).name(), "item 15");
        same(shapes.sum(list).sum(), 509500L);
        same(shapes.range(0, 0), null);
    }

    private static void listsAreReplaced(IShapes shapes) {
        same(values(shapes.reverse(shapes.range(1, 3))), new int[] {3, 2, 1});
        same(shapes.reverse(null), null);
        Item bad = shapes.range(-3, 5);
        fails(Hresult.E_INVALIDARG, () -> shapes.reverse(bad));
        same(shapes.bump(Item.of(1, false, "one", Item.of(5, false, null, null)), 41), Item.of(42, true, "one+41", Item.of(5, false, null, null)));
    }

    private static void treesGrow(IShapes shapes) {
        Tree tree = Tree.of(0, null, null);
        for (long key : new long[] {50, -7, 30, 99, -20, 31}) {
            tree = shapes.insert(tree, key);
        }
        same(keys(tree), "-20 -7 0 30 31 50 99 ");
    }

    private static String keys(Tree tree) {
        return tree == null ? "" : keys(tree.left()) + tree.key() + " " + keys(tree.right());
    }

    private static void graphsKeepCyclesAndSharedNodes(IShapes shapes) {
        for (int count : new int[] {1, 2, 100}) {
            Node ring = shapes.ring(count);
            Node node = ring;
            for (int i = 0; i < 2 * count; i++) {
                same(node.number(), i % count);
                same(node.second() == ring, true);
                node = node.first();
            }
            same(node == ring, true);
            same(shapes.walk(ring, count * 3 + count / 2), count / 2);
        }
        same(shapes.ring(0), null);
        Node.Rec a = Node.of(1, null, null);
        Node.Rec b = Node.of(2, a, null);
        a.setFirst(b);
        b.setSecond(b);
        same(shapes.shared(a, a), true);
        same(shapes.shared(a, b), false);
        same(shapes.shared(null, b), false);
        same(shapes.walk(a, 1001), 2);
        fails(Hresult.E_POINTER, () -> shapes.walk(null, 0));
    }

    private static void arraysHaveTheLengthStatedInTheStructure(IShapes shapes) {
        Shorts table = Shorts.of(new short[] {100, 200, 300});
        Samples samples = Samples.of(Doubles.of(1, 2, 6), Bytes.of(new byte[] {1, 0, 1}), (short) 1, (short) 2, table, 2, Ints.of(10, 20));
        same(shapes.average(samples), 3.5 + 600 + 30);
        same(shapes.average(Samples.of(null, null, (short) 0, (short) 0, null, 0, Ints.of())), 0.0);
        Samples sampled = shapes.sampled(5);
        same(sampled.values(), Doubles.of(0, 1, 2, 3, 4));
        same(sampled.table().size(), 7);
        same(sampled.tail(), Ints.of(1, 2, 3));
        same(shapes.average(sampled), 2.0 + 28 + 6);
        fails(Hresult.E_INVALIDARG, () -> Samples.of(null, null, (short) 0, (short) 0, null, 9, Ints.of(new int[9])));
        fails(Hresult.E_INVALIDARG, () -> Samples.of(null, null, (short) 0, (short) 0, null, 1, Ints.of()));
    }

    private static void unionsHaveTheArmOfTheDiscriminant(IShapes shapes, boolean isElsewhere) {
        same(shapes.describe(1, new Any.Number(-5)), "1: Number(-5)");
        same(shapes.describe(2, new Any.Real(0.25)), "2: Real(0.25)");
        same(shapes.describe(3, new Any.Text(null)), "3: Text(None)");
        same(shapes.describe(3, new Any.Text("x")), "3: Text(Some(\"x\\0\"))");
        same(shapes.describe(4, new Any.List_(Item.of(1, false, null, Item.of(1, false, null, null)))), "4: Items(2)");
        same(shapes.describe(6, new Any.Color_(6, Color.BLUE)), "6: Color(6, Color(6))");
        same(shapes.describe(77, new Any.Default(77)), "77: Other(77)");
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> shapes.describe(2, new Any.Number(1)));
        }
        same(shapes.choose(new Choice.Number(9)), 9L);
        same(shapes.choose(new Choice.Tree_(Tree.of(4, Tree.of(3, null, null), null))), 7L);
        same(shapes.choose(new Choice.Blue()), -1L);
    }

    private static void nestedStructuresArePassed(IShapes shapes) {
        Tree left = Tree.of(1, null, null);
        Tree right = Tree.of(2, null, null);
        List<Item> items = List.of(Item.of(1, true, "a", null), Item.of(2, false, null, null));
        Box flipped = shapes.flip(Box.of(Color.GREEN, items, Arrays.asList(left, null, right), new Choice.Tree_(right), 3));
        same(flipped, Box.of(Color.GREEN, items.reversed(), Arrays.asList(right, null, left), new Choice.Tree_(right), 7));
    }

    private static void arraysOfStructuresAndStringsArePassed(IShapes shapes, boolean isElsewhere) {
        // An empty list may be null.
        int before = Objects.requireNonNullElse(shapes.list(), List.of()).size();
        Entry one = Entry.of("one", 1, new Any.Number(1));
        Entry two = Entry.of("two", 3, new Any.Text("wide"));
        shapes.put(List.of(one, two));
        shapes.put(List.of());
        List<Entry> all = shapes.list();
        same(all.subList(before, all.size()), List.of(one, two));
        same(shapes.some(1).entries(), all.subList(0, 1));
        same(shapes.some(all.size() + 7).got(), all.size());
        same(shapes.some(0).entries(), List.of());
        if (isElsewhere) {
            // No frame has room for so many elements.
            fails(Hresult.E_INVALIDARG, () -> shapes.some(-1));
        }
        same(shapes.words(Arrays.asList("ab", null, "c")), Arrays.asList("AB", null, "C"));
    }

    private static void resultArraysHaveTheRequestedRoom(IShapes shapes, boolean isElsewhere) {
        for (int asked = 1; asked <= 5; asked++) {
            IShapes.TakeResult taken = shapes.take(asked);
            same(taken.count(), 3);
            same(taken.items().stream().mapToInt(Item::value).toArray(), Arrays.copyOf(new int[] {1, 2, 3, 0, 0}, asked));
            same(taken.items().get(0).name(), "item 1");
        }
        if (isElsewhere) {
            fails(Hresult.E_INVALIDARG, () -> shapes.take(0));
        }
    }

    private static void objectsInStructuresAreCalled(IShapes shapes) {
        IPeer left = new Peer(2);
        IPeer right = new Peer(3);
        same(shapes.meet(Pair.of(left, "abcd", right)), 812);
        same(shapes.meet(Pair.of(null, "abcd", right)), 12);
        same(shapes.meet(Pair.of(null, null, null)), 0);
        Pair pair = shapes.peers(Arrays.asList(null, left, right));
        same(pair.word(), "last and mine");
        same(pair.left() == right, true);
        same(pair.right().twice(6), 42);
        // An object that is passed back to its own process arrives as the object itself, and so
        // does the pointer in a copy.
        same(shapes.meet(Pair.of(pair.right(), "ab", pair.copy().right())), 1414);
    }

    private static void callersDoNotWaitForOnewayMethods(IShapes shapes) throws InterruptedException {
        int before = shapes.noted();
        shapes.note(Item.of(1, false, null, Item.of(2, false, null, null)));
        long end = System.nanoTime() + 60_000_000_000L;
        while (shapes.noted() != before + 2) {
            same(System.nanoTime() < end, true);
            Thread.sleep(1);
        }
    }
}
