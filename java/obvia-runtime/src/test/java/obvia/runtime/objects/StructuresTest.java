package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import obvia.Bytes;
import obvia.Doubles;
import obvia.Guid;
import obvia.Hresult;
import obvia.Ints;
import obvia.Obvia;
import obvia.RpcException;
import obvia.Shorts;
import obvia.runtime.shm.Wires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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
import trees.ITreesInfo;
import trees.Item;
import trees.Node;
import trees.Pair;
import trees.Point;
import trees.Row;
import trees.Samples;
import trees.Several;
import trees.Tree;
import trees.Weighed;

/** Tests calls with structures that contain pointers, to another virtual machine. */
@Timeout(180)
class StructuresTest {
    private static final Samples FEW = Samples.of(Doubles.of(1, 2, 3), null, (short) 0, (short) 0, null, 0, Ints.of());

    private static ITrees bind(Peer peer) {
        return Obvia.bind(ITrees.class, peer.name + "-trees");
    }

    private static Item list(int count) {
        Item list = null;
        for (int i = count; i > 0; i--) {
            list = Item.of(i, false, null, list);
        }
        return list;
    }

    @Test
    void listsAndTreesRoundTrip() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Item two = Item.of(1, false, "ab", Item.of(2, true, "\u00fc\ud83d\ude00", null));
            assertEquals(new ITrees.SumResult(3, "ab*\u00fc\ud83d\ude00"), there.sum(two));
            assertEquals(new ITrees.SumResult(0, null), there.sum(null));
            assertEquals(list(3), there.range(1, 3));
            assertNull(there.range(1, 0));
            Item reversed = there.reverse(two);
            assertEquals(Item.of(2, true, "\u00fc\ud83d\ude00", Item.of(1, false, "ab", null)), reversed);
            assertNull(there.reverse(null));
            assertEquals(Item.of(11, true, "ab", two.next()), there.bump(two, 10), "a view in a record goes back");
            assertThrows(NullPointerException.class, () -> there.bump(null, 1));
            Tree tree = Tree.of(5, null, null);
            for (long key : new long[] {2, 8, 1, 3}) {
                tree = there.insert(tree, key);
            }
            assertEquals(Tree.of(5, Tree.of(2, Tree.of(1, null, null), Tree.of(3, null, null)), Tree.of(8, null, null)), tree);
            there.note(two);
            assertEquals(3, there.noted(), peer.errors());
        }
    }

    @Test
    void arraysAndNestedStructuresRoundTrip() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            assertEquals(6, there.average(FEW));
            Samples many = there.sampled(5000);
            assertEquals(4999, many.values().get(4999));
            assertArrayEquals(new int[] {5, 6}, many.tail().toArray());
            assertEquals(4999.0 * 2500 + 5000 + 2, there.average(many), "long arrays are where the caller has them");
            Item item = Item.of(1, true, "x", list(2));
            Point point = new Point(3, Color.BLUE, true);
            Holder holder = Holder.of(
                    item, Color.GREEN, List.of(point, point), Ints.of(1, 2, 3, 4, 5, 6), Guid.of("00000000-0000-0000-c000-000000000046"), "l\u00e4bel", List.of(point),
                    7, List.of(item), point);
            assertEquals(holder, there.hold(holder), "what was passed in is returned");
            Holder bare = Holder.of(item, Color.RED, List.of(point, point), Ints.of(new int[6]), Guid.of("00000000-0000-0000-c000-000000000046"), "", null, null, null, point);
            assertEquals(bare, there.hold(bare));
            ITrees.AllResult all = there.all(List.of(item, item), new int[] {4, 5}, new Point[] {point, point}, point, "t");
            assertEquals(List.of(item, item, Item.of(2, true, "t", null)), all.back());
            assertArrayEquals(new int[] {4, 5}, all.ys());
            assertThrows(RpcException.class, () -> there.all(List.of(), new int[1], new Point[0], null, ""));
        }
    }

    @Test
    void unionsArePassedAsRecords() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            assertEquals("number 3", there.describe(1, new Any.Number(3)));
            assertEquals("real 0.5", there.describe(2, new Any.Real(0.5)));
            assertEquals("t\u00e4xt", there.describe(3, new Any.Text("t\u00e4xt")));
            assertNull(there.describe(3, new Any.Text(null)));
            assertEquals("list of 6", there.describe(4, new Any.List_(list(3))));
            assertEquals("6 GREEN", there.describe(6, new Any.Color_(6, Color.GREEN)));
            assertEquals("nothing for -9", there.describe(-9, new Any.Default(-9)));
            assertThrows(RpcException.class, () -> there.describe(2, new Any.Number(3)), "another arm");
            assertEquals(new Any.Number(7), there.become(1));
            assertEquals(new Any.List_(list(3)), there.become(4));
            assertEquals(new Any.Color_(6, Color.BLUE), there.become(6));
            assertEquals(new Any.Default(0), there.become(0));
            assertThrows(RpcException.class, () -> there.become(9), "the method returns another arm");
            assertEquals(3, there.choose(new Choice.Number(3)));
            assertEquals(7, there.choose(new Choice.Tree_(Tree.of(4, Tree.of(3, null, null), null))));
            assertEquals(-1, there.choose(new Choice.Blue()));
            List<Entry> entries = List.of(
                    Entry.of("a", 1, new Any.Number(1)), Entry.of("b", 4, new Any.List_(list(2))), Entry.of("c", 5, new Any.Color_(5, Color.RED)), Entry.of("", 0, new Any.Default(0)));
            there.put(entries);
            assertEquals(entries, there.list());
            assertThrows(RpcException.class, () -> new Any.Color_(4, Color.RED), "a discriminant of another arm");
            assertThrows(RpcException.class, () -> new Any.Default(4), "a discriminant of another arm");
            assertThrows(RpcException.class, () -> Entry.of("", 2, new Any.Number(1)), "another arm than the structure says");
        }
    }

    @Test
    void pointerArraysAndFixedArraysRoundTrip() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Item one = Item.of(1, true, "x", list(2));
            Item two = Item.of(2, false, null, null);
            Tree tree = Tree.of(5, Tree.of(2, null, null), null);
            List<Tree> trees = Arrays.asList(tree, null, Tree.of(1, null, null));
            List<Choice> choices = List.of(new Choice.Blue(), new Choice.Tree_(tree));
            Node.Rec node = Node.of(4, "n", null, null, null, null);
            node.setFirst(node);
            Box box = Box.of(Color.BLUE, List.of(one, two), trees, new Choice.Number(9), 3, choices, Arrays.asList("a", null), List.of(node, node));
            Box flipped = there.flip(box);
            assertEquals(List.of(two, one), flipped.items());
            assertEquals(trees.reversed(), flipped.trees());
            assertEquals(new Choice.Number(9), flipped.choice());
            assertEquals(7, flipped.digit());
            assertEquals(choices, flipped.choices());
            assertEquals(Arrays.asList("a", null), flipped.words());
            assertSame(flipped.nodes().get(0), flipped.nodes().get(1), "two pointers to one structure");
            assertSame(flipped.nodes().get(0), flipped.nodes().get(0).first(), "a circle");
            Box bare = Box.of(Color.RED, List.of(two, two), Arrays.asList(null, null, null), new Choice.Blue(), 5, null, null, null);
            assertEquals(bare, there.flip(bare));
            assertEquals(bare, bare.copy());
            assertThrows(RpcException.class, () -> Box.of(Color.RED, List.of(two), trees, new Choice.Blue(), 5, null, null, null), "one of two");
            assertEquals(Arrays.asList("AB", null, ""), there.words(Arrays.asList("ab", null, "")));
            assertEquals(List.of(), there.words(List.of()));
        }
    }

    @Test
    void structuresWithContradictoryLengthsAreRefused() {
        assertThrows(RpcException.class, () -> Samples.of(Doubles.of(1), Bytes.of(), (short) 0, (short) 0, null, 0, Ints.of()), "two lengths");
        assertThrows(RpcException.class, () -> Samples.of(null, null, (short) 1, (short) 1, Shorts.of(), 0, Ints.of()), "another length");
        assertThrows(RpcException.class, () -> Samples.of(null, null, (short) 0, (short) 0, null, 9, Ints.of(new int[9])), "out of its range");
        assertThrows(NullPointerException.class, () -> Samples.of(null, null, (short) 0, (short) 0, null, 0, null));
        RpcException zero = assertThrows(RpcException.class, () -> Item.of(1, false, "a\0b", null).copy());
        assertEquals(Hresult.E_INVALIDARG, zero.result());
    }

    @Test
    void listsOfAMillionElementsArePassed() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            int count = 1_000_000;
            assertEquals((long) count * (count + 1) / 2, there.sum(list(count)).sum());
            Item back = there.range(1, count);
            assertEquals((long) count * (count + 1) / 2, Trees.total(back));
            assertEquals((long) count * (count + 1) / 2, Trees.total(list(count).copy()));
        }
    }

    @Test
    void viewsOfArgumentsEndWithTheirCall() throws Exception {
        for (String option : List.of("-Dobvia.scope=call", "-Dobvia.scope=strict")) {
            try (Peer peer = Peer.server(option)) {
                ITrees there = bind(peer);
                assertEquals(6, there.probe(Trees.STORE, list(3), FEW));
                assertEquals(-1, there.probe(Trees.READ_LATE, null, FEW), option);
                boolean isStrict = option.endsWith("strict");
                assertEquals(isStrict ? -2 : 1, there.probe(Trees.OTHER_THREAD, list(1), FEW), option);
            }
        }
    }

    @Test
    void collectedViewsOutliveTheirCall() throws Exception {
        try (Peer peer = Peer.server("-Dobvia.views=collected")) {
            ITrees there = bind(peer);
            assertEquals(6, there.probe(Trees.STORE, list(3), FEW));
            for (int i = 0; i < 1000; i++) {
                there.sum(list(5));
            }
            assertEquals(6, there.probe(Trees.SUM_STORED, null, FEW));
            assertEquals(4999.0 * 2500 + 5000 + 2, there.average(there.sampled(5000)));
        }
    }

    @Test
    void retainedStructuresStayUnchanged() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            double[] ones = new double[5000];
            java.util.Arrays.fill(ones, 1);
            Samples samples = Samples.of(Doubles.of(ones), null, (short) 0, (short) 0, null, 0, Ints.of());
            assertEquals(6, there.probe(Trees.RETAIN, list(3), samples));
            assertTrue(there.probe(Trees.HELD, null, FEW) >= 40_000);
            for (int i = 0; i < 50_000; i++) {
                assertEquals(10 + i, there.sum(Item.of(10 + i, false, null, null)).sum());
            }
            there.average(there.sampled(5000));
            assertEquals(5006, there.probe(Trees.SUM_RETAINED, null, FEW));
            assertEquals(0, there.probe(Trees.CLOSE, null, FEW));
            assertEquals(0, there.probe(Trees.HELD, null, FEW));
            assertTrue(there.probe(Trees.RECEIVED, null, FEW) > 50_000 * 40);
        }
    }

    @Test
    void unclosedResultsAreReportedAsLeaks() throws Exception {
        try (Peer peer = Peer.server("-Dobvia.leaks=trace")) {
            ITrees there = bind(peer);
            there.probe(Trees.DROP, list(3), FEW);
            long until = System.nanoTime() + Wires.PATIENCE.toNanos();
            while (there.probe(Trees.LEAKS, null, FEW) == 0 || !peer.errors().contains("Trees.probe")) {
                assertTrue(System.nanoTime() < until, "a leak is reported");
                Thread.sleep(10);
            }
            assertEquals(0, there.probe(Trees.HELD, null, FEW));
            assertTrue(peer.errors().contains("dropped without being closed"), peer.errors());
        }
    }

    private static int around(Node start) {
        int count = 1;
        for (Node node = start.first(); node != start; node = node.first()) {
            assertSame(node, node.first().second(), "each leads back");
            count++;
        }
        return count;
    }

    @Test
    void referencesArePassedBesideStructures() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Trees here = new Trees();
            Item list = Item.of(3, true, "three", Item.of(4, false, null, null));
            ITrees.TellResult told = there.tell(list, here);
            assertEquals(list, told.same());
            assertSame(here, told.back());
            assertEquals(there, there.tell(null, there).back());
            assertThrows(RpcException.class, () -> there.tell(list, null), "it is called there");
        }
    }

    private static Bytes bytes(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return Bytes.of(bytes);
    }

    /**
     * Returns elements with arrays of many lengths: the last word of an array is full or not full,
     * and the array is copied once or twice.
     */
    private static Chunk chunks(int from, int to, Chunk next) {
        Chunk chunk = next;
        for (int i = to; i-- > from; ) {
            Bytes data = i % 7 == 6 ? null : bytes(i % 256, i);
            Bytes rest = i % 5 == 4 ? null : bytes(i % 3 == 2 ? 250 + i : i % 19, -i);
            Ints values = i % 4 == 3 ? null : Ints.of(i, -i, 1 << i);
            chunk = Chunk.of(-i / 3f, i % 2 == 1, Color.values()[i % 3], data, rest, -1.0 / i, i % 3 == 0 ? null : "c" + i, ~(long) i, (char) ~i, values, chunk);
        }
        return chunk;
    }

    @Test
    void listsOfMixedMembersRoundTrip() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Chunk few = chunks(3, 9, null);
            // In some calls, the list is the last value in the frame. In others, another value
            // follows.
            assertEquals(few, there.chain(few, null));
            assertEquals(few, there.chain(null, few));
            assertEquals(chunks(3, 20, null), there.chain(few, chunks(9, 20, null)));
            Chunk small = chunks(7, 8, Chunk.of(1, true, Color.RED, bytes(20, 1), null, 2, null, 3, 'c', null, null));
            assertEquals(small, there.chain(small, null));
            Chunk many = chunks(0, 300, null);
            assertEquals(many, there.chain(many, null));
            assertEquals(chunks(0, 400, null), there.chain(many, chunks(300, 400, null)));
            assertEquals(few, there.chain(few, null));
            // All arrays are short, so the whole frame lies in the writer's memory, and exceeds its
            // initial size.
            Chunk plain = null;
            for (int i = 0; i < 500; i++) {
                plain = Chunk.of(i, false, Color.BLUE, bytes(8 + i % 9, i), bytes(i % 40, i), i, null, i, 'x', null, plain);
            }
            assertEquals(plain, there.chain(plain, null));
        }
    }

    /** Waits until a call without response has arrived. */
    private static void awaitNote(int expected, Trees here) throws InterruptedException {
        long until = System.nanoTime() + Wires.PATIENCE.toNanos();
        while (here.noted() != expected && System.nanoTime() < until) {
            Thread.sleep(1);
        }
        assertEquals(expected, here.noted());
    }

    @Test
    void objectsArePassedInStructures() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Trees here = new Trees();
            ITrees.MeetResult met = there.meet(Pair.of(here, "word", there), null);
            awaitNote(4, here);
            assertEquals(there, met.last());
            assertEquals(Pair.of(null, "word", here), met.turned());
            assertSame(here, met.turned().right());
            there.probe(Trees.CALL_MET, list(3), FEW);
            // The retained structure refers to the object.
            awaitNote(6, here);
            assertEquals(Pair.of(here, null, null), there.meet(Pair.of(null, null, null), here).turned());
            Guid iid = ITreesInfo.INFO.iid();
            Crowd crowd = Crowd.of(Arrays.asList(here, null, there), Arrays.asList(null, here), iid, here);
            Crowd turned = there.gather(crowd);
            assertEquals(Crowd.of(crowd.all().reversed(), crowd.two().reversed(), iid, here), turned);
            assertEquals(turned, turned.copy());
            Guid nothing = new Guid(0, 0);
            Crowd none = Crowd.of(null, Arrays.asList(null, null), nothing, null);
            assertEquals(none, there.gather(none));
            RpcException unknown = assertThrows(RpcException.class, () -> there.gather(Crowd.of(null, crowd.two(), nothing, here)));
            assertEquals(Hresult.E_NOINTERFACE, unknown.result());
        }
    }

    @Test
    void referencesOfUnsentCallsAreTakenBack() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Trees here = new Trees();
            ITrees gone = bind(peer);
            Obvia.release(gone);
            Exports own = ((ProcessRuntime) obvia.ObviaRuntime.instance()).exports();
            int before = own.count();
            RpcException released = assertThrows(RpcException.class, () -> there.meet(Pair.of(here, "word", gone), here));
            assertEquals(Hresult.RPC_E_DISCONNECTED, released.result());
            assertThrows(RpcException.class, () -> there.meet(Pair.of(here, "a zero\0", null), here));
            assertThrows(RpcException.class, () -> there.gather(Crowd.of(List.of(here), Arrays.asList(here, null), new Guid(1, 2), here)));
            assertTrue(own.count() <= before, "nothing is counted that did not go");
        }
    }

    @Test
    void trailingArraysAndCountedListsRoundTrip() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Row row = Row.of("title", List.of(Item.of(1, true, "a", list(2)), Item.of(2, false, null, null)));
            Digits digits = Digits.of((byte) 200, (byte) 3, Ints.of(1, 2, 3));
            ITrees.StoreResult stored = there.store(row, digits);
            assertEquals(row, stored.stored());
            assertEquals(Digits.of((byte) 200, (byte) 3, Ints.of(2, 4, 6)), stored.twice());
            assertEquals(Row.of(null, List.of()), there.store(Row.of(null, List.of()), null).stored());
            assertThrows(RpcException.class, () -> Digits.of((byte) 2, (byte) 3, Ints.of(1, 2, 3)));
            Item three = Item.of(3, false, "three", null);
            Item one = Item.of(1, false, null, null);
            assertEquals(List.of(one, three), there.sort(List.of(three, one)));
            assertThrows(RpcException.class, () -> there.sort(List.of(one)), "the method returns fewer");
            ITrees.PartResult part = there.part(2, 1, List.of(three));
            assertEquals(2, part.used());
            assertEquals(List.of(three, Item.of(1, false, "more", null)), part.items());
            assertThrows(RpcException.class, () -> there.part(2, 2, part.items()), "the method returns more than there is room for");
            assertThrows(RpcException.class, () -> there.part(2, 1, part.items()));
            assertThrows(RpcException.class, () -> there.part(1, 2, part.items()));
            there.put(List.of(Entry.of("e", 1, new Any.Number(1))));
            assertEquals("e", there.some(5).entries().get(0).name());
            assertThrows(RpcException.class, () -> there.some(0), "the method says that there are more");
            assertThrows(RpcException.class, () -> there.some(-1));
            assertEquals(new Any.Number(-4), there.change(1, new Any.Number(4)));
            assertEquals(new Any.Text("t"), there.change(3, new Any.Text("t")));
            assertEquals(new Several.Three(Ints.of(3, 2, 1)), there.many(new Several.Three(Ints.of(1, 2, 3))));
            assertEquals(new Several.Two(List.of(one, three)), there.many(new Several.Two(List.of(three, one))));
            assertThrows(RpcException.class, () -> new Several.Two(List.of(one)));
            assertEquals(there, ((Several.Object_) there.many(new Several.Object_(null))).object());
        }
    }

    @Test
    void unionArmsAreChosenByHypersAndExpressions() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Any three = new Any.Text("three");
            Any nine = new Any.Number(9);
            Big.List_ big = new Big.List_(5_000_000_001L, list(2));
            Weighed weighed = Weighed.of(5_000_000_001L, big, (short) -99, (byte) 201, three, nine);
            assertEquals(Weighed.of(5_000_000_001L, big, (short) -100, (byte) 203, three, nine), there.weigh(weighed));
            Weighed negated = there.weigh(Weighed.of(1, new Big.Number(4), (short) 0, (byte) 1, new Any.Number(1), nine));
            assertEquals(new Big.Number(-4), negated.big());
            assertEquals(new Big.CaseMinus7(), there.weigh(Weighed.of(-7, new Big.CaseMinus7(), (short) 1, (byte) 1, three, new Any.Default(-7))).big());
            assertThrows(RpcException.class, () -> Weighed.of(5_000_000_000L, big, (short) -99, (byte) 201, three, new Any.Default(0)), "another arm");
            assertThrows(RpcException.class, () -> Weighed.of(5_000_000_001L, big, (short) -99, (byte) 200, three, nine), "another arm");
            assertThrows(RpcException.class, () -> new Big.Text(5_000_000_000L, "t"));
            assertThrows(RpcException.class, () -> new Big.List_(2, null));
            assertThrows(RpcException.class, () -> new Huge.Default(-1), "more than 63 bits");

            Item item = Item.of(6, true, "six", null);
            ITrees.ScaleResult scaled = there.scale(1, new Big.Number(3), 0, new Any.Default(0), new Huge.Item_(item));
            assertEquals(5_000_000_001L, scaled.next());
            assertEquals(3, ((Big.List_) scaled.bigger()).list().value());
            assertEquals(new Any.Number(1), scaled.other());
            assertEquals(new Huge.Default(6), scaled.huge());
            scaled = there.scale(5_000_000_000L, new Big.List_(5_000_000_000L, item), -8, new Any.Default(-8), new Huge.Number(1));
            assertEquals(new ITrees.ScaleResult(1, new Big.Number(6), new Any.Default(-7), new Huge.Number(2)), scaled);
            scaled = there.scale(Long.MIN_VALUE, new Big.Text(Long.MIN_VALUE, "t"), 7, new Any.Default(7), new Huge.Default(Long.MAX_VALUE));
            assertEquals(new Big.Text(Long.MIN_VALUE, "tt"), scaled.bigger());
            assertEquals(new Huge.Default(Long.MAX_VALUE), scaled.huge());
            assertThrows(RpcException.class, () -> there.scale(2, new Big.Number(3), 7, new Any.Default(7), new Huge.Number(1)));
            assertThrows(RpcException.class, () -> there.scale(1, new Big.Number(3), 1L << 32 | 7, new Any.Default(7), new Huge.Number(1)));
            assertThrows(RpcException.class, () -> there.scale(2, new Big.Text(2, "t"), 1, new Any.Number(1), new Huge.Number(1)), "the server's is of another arm");
        }
    }

    @Test
    void sharedNodesAndCyclesRoundTrip() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            for (int count : new int[] {1, 2, 7, 100_000}) {
                Node ring = there.ring(count);
                assertEquals(count, around(ring));
                assertEquals(5 % count, there.walk(ring, 5));
                Node copy = ring.copy();
                assertNotSame(ring, copy);
                assertEquals(count, around(copy));
                assertEquals(count, around(there.turn(ring)), "views of a circle go back as one");
            }
            Node one = there.ring(3);
            assertTrue(there.shared(one, one));
            assertFalse(there.shared(one, one.first()) && there.shared(one.first(), one));
            Item item = Item.of(5, false, "s", null);
            Node.Rec a = Node.of(1, null, null, null, item, Tree.of(1, null, null));
            Node.Rec b = Node.of(2, null, a, a, item, Tree.of(1, null, null));
            a.setFirst(b);
            Node copy = b.copy();
            assertSame(copy.item(), copy.first().item(), "so does what only is led to");
            assertEquals(Tree.of(1, null, null), copy.first().tree());
        }
    }

    @Test
    void cyclesOfUniquePointersAreRefusedInArguments() throws Exception {
        try (Peer peer = Peer.server()) {
            ITrees there = bind(peer);
            Node.Rec alone = Node.of(3, null, null, null, null, null);
            assertEquals(3, there.alone(alone));
            alone.setFirst(alone);
            RpcException refused = assertThrows(RpcException.class, () -> there.alone(alone));
            assertEquals(Hresult.E_INVALIDARG, refused.result());
            assertTrue(refused.getMessage().contains("its only pointer"), refused.getMessage());
            assertEquals(3, there.alone(Node.of(3, null, null, null, null, null)), "it goes on");
        }
    }

    @Test
    void copiedStructuresAreRecords() {
        Item item = Item.of(1, true, "x", list(2));
        assertEquals(item, item.copy());
        assertEquals(item, item.retain().get());
    }
}
