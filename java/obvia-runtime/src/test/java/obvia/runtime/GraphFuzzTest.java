package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import obvia.BadMessageException;
import obvia.Bytes;
import obvia.Doubles;
import obvia.Guid;
import obvia.Hresult;
import obvia.Ints;
import obvia.Retained;
import obvia.RpcException;
import obvia.Shorts;
import obvia.runtime.objects.Trees;
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
import trees.Holder;
import trees.Huge;
import trees.ITreesInfo;
import trees.Item;
import trees.Node;
import trees.Pair;
import trees.Row;
import trees.Samples;
import trees.Several;
import trees.Tree;
import trees.Weighed;

/**
 * Tests arbitrary bytes in place of a frame with structures. In bounded time, the bytes are refused
 * with {@link BadMessageException}, or are read if they are a valid frame.
 */
@Timeout(120)
class GraphFuzzTest {
    private static final GraphType ITEM = type(Item.class);
    private static final GraphType SAMPLES = type(Samples.class);
    private static final GraphType HOLDER = type(Holder.class);
    private static final GraphType NODE = type(Node.class);
    private static final GraphType PAIR = type(Pair.class);
    private static final GraphType CROWD = type(Crowd.class);
    private static final GraphType ROW = type(Row.class);
    private static final GraphType DIGITS = type(Digits.class);

    private static final GraphType CHUNK = type(Chunk.class);
    private static final GraphType BOX = type(Box.class);
    private static final GraphType WEIGHED = type(Weighed.class);
    private static final GraphType SEVERAL = type(Several.class);
    private static final GraphType HUGE = type(Huge.class);

    /** The target of every reference. */
    private static final Trees HERE = new Trees();

    /** Returns the compiler's type of a structure, which is private to its package. */
    private static GraphType type(Class<?> structure) {
        try {
            var type = Class.forName(structure.getName() + "Type").getDeclaredField("TYPE");
            type.setAccessible(true);
            return (GraphType) type.get(null);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("no type", e);
        }
    }

    private static byte[] frame(GraphType type, Object value) {
        GraphWriter writer = GraphWriter.of(GraphKinds.EVERY, 8);
        if (type.isShared()) {
            writer.shared(0, type, value);
        } else {
            writer.one(0, type, value);
        }
        writer.finishHere();
        byte[] frame = new byte[writer.length()];
        writer.copyTo(MemorySegment.ofArray(frame), 0);
        writer.close();
        return frame;
    }

    /**
     * Reads a frame, writes the view and the built values, and compares the lengths of both frames.
     */
    private static void read(GraphType type, byte[] frame) {
        GraphReader reader = GraphReader.of(MemorySegment.ofArray(frame), 0, frame.length, 8, GraphKinds.EVERY, "the frame");
        reader.checkOne(0, type, type.isShared() ? GraphReader.FULL : GraphReader.UNIQUE);
        reader.verify();
        reader.resolve((_, _) -> HERE);
        Object view = reader.frame().one(0, type);
        byte[] again = frame(type, view);
        reader.build();
        assertEquals(again.length, frame(type, reader.one(0)).length);
        reader.close();
    }

    private static boolean isRefused(GraphType type, byte[] frame) {
        try {
            read(type, frame);
            return false;
        } catch (BadMessageException e) {
            return true;
        } catch (RpcException e) {
            assertEquals(Hresult.E_NOINTERFACE, e.result(), "an IID may be any");
            return true;
        }
    }

    private record Sample(GraphType type, byte[] frame) {}

    private static List<Sample> samples() {
        List<Sample> samples = new ArrayList<>();
        Item item = Item.of(1, true, "ab", Item.of(2, false, null, Item.of(3, false, "", null)));
        samples.add(new Sample(ITEM, frame(ITEM, item)));
        Samples arrays = Samples.of(Doubles.of(new double[40]), Bytes.of(new byte[40]), (short) 2, (short) 3, Shorts.of(new short[7]), 2, Ints.of(1, 2));
        samples.add(new Sample(SAMPLES, frame(SAMPLES, arrays)));
        var point = new trees.Point(1, Color.BLUE, true);
        Holder holder = Holder.of(
                item, Color.GREEN, List.of(point, point), Ints.of(new int[6]), Guid.of("00000000-0000-0000-c000-000000000046"), "\u00e4", List.of(point), 7, List.of(item), point);
        samples.add(new Sample(HOLDER, frame(HOLDER, holder)));
        samples.add(new Sample(NODE, frame(NODE, new Trees().ring(4))));
        samples.add(new Sample(PAIR, frame(PAIR, Pair.of(HERE, "word", null))));
        Guid iid = ITreesInfo.INFO.iid();
        samples.add(new Sample(CROWD, frame(CROWD, Crowd.of(Arrays.asList(HERE, null, HERE), Arrays.asList(null, HERE), iid, HERE))));
        samples.add(new Sample(ROW, frame(ROW, Row.of("title", List.of(item, item)))));
        samples.add(new Sample(DIGITS, frame(DIGITS, Digits.of((byte) 9, (byte) 3, Ints.of(1, 2, 3)))));
        Chunk chunk = Chunk.of(1, true, Color.RED, Bytes.of(new byte[11]), Bytes.of(new byte[300]), 2, "ab", 3, 'c', Ints.of(1), null);
        samples.add(new Sample(CHUNK, frame(CHUNK, Chunk.of(1, false, Color.BLUE, Bytes.of(new byte[16]), Bytes.of(new byte[3]), 2, null, 3, 'c', null, chunk))));
        addUnions(samples, item);
        return samples;
    }

    private static void addUnions(List<Sample> samples, Item item) {
        Tree tree = Tree.of(1, Tree.of(2, null, null), null);
        Node node = new Trees().ring(2);
        List<Choice> choices = List.of(new Choice.Blue(), new Choice.Tree_(tree));
        Box box = Box.of(Color.BLUE, List.of(item, item), Arrays.asList(tree, null, tree), new Choice.Number(9), 3, choices, Arrays.asList("a", null), List.of(node, node));
        samples.add(new Sample(BOX, frame(BOX, box)));
        Weighed weighed = Weighed.of(5_000_000_001L, new Big.List_(5_000_000_001L, item), (short) -99, (byte) 201, new Any.Text("three"), new Any.Number(9));
        samples.add(new Sample(WEIGHED, frame(WEIGHED, weighed)));
        samples.add(new Sample(WEIGHED, frame(WEIGHED, Weighed.of(5, new Big.Text(5, "five"), (short) 3, (byte) 0, new Any.Color_(6, Color.GREEN), new Any.Color_(5, Color.RED)))));
        samples.add(new Sample(SEVERAL, frame(SEVERAL, new Several.Two(List.of(item, item)))));
        samples.add(new Sample(SEVERAL, frame(SEVERAL, new Several.Object_(HERE))));
        samples.add(new Sample(HUGE, frame(HUGE, new Huge.Item_(item))));
        samples.add(new Sample(HUGE, frame(HUGE, new Huge.Default(7))));
    }

    @Test
    void writtenGraphsAreReadBack() {
        for (Sample sample : samples()) {
            read(sample.type, sample.frame);
        }
    }

    @Test
    void theDocumentedGraphFrameEqualsTheWrittenOne() {
        Item list = Item.of(1, false, "ab", Item.of(2, true, null, null));
        String frame = HexFormat.of().formatHex(frame(ITEM, list));
        String kind = HexFormat.of().formatHex(frame(ITEM, Item.of(0, false, null, null))).substring(16, 24);
        String documented = "1000000000000000 KIND000001000000 0100000000000000 3000000000000000 4000000000000000 0300000003000000 6100620000000000 KIND000001000000 0200000001000000 0000000000000000 0000000000000000";
        assertEquals(documented.replace("KIND0000", kind).replace(" ", ""), frame);
    }

    @Test
    void changedGraphBytesAreReadOrRefused() {
        int refused = 0;
        for (Sample sample : samples()) {
            for (int i = 0; i < sample.frame.length; i++) {
                for (int bit = 0; bit < 8; bit++) {
                    byte[] frame = sample.frame.clone();
                    frame[i] ^= (byte) (1 << bit);
                    refused += isRefused(sample.type, frame) ? 1 : 0;
                }
            }
        }
        assertTrue(refused > 1000, "most of them break a rule: " + refused);
    }

    @Test
    void truncatedGraphFramesAreRefused() {
        for (Sample sample : samples()) {
            for (int length = 0; length < sample.frame.length; length++) {
                byte[] frame = Arrays.copyOf(sample.frame, length);
                assertThrows(BadMessageException.class, () -> read(sample.type, frame));
            }
        }
    }

    @Test
    void changedGraphWordsAreReadOrRefused() {
        Random random = new Random(7);
        long[] likely = {0, 1, 8, 16, 24, 0x7fffffff, 0x80000000L, 0xffffffffL, -1, Long.MIN_VALUE, 1L << 32};
        List<Sample> samples = samples();
        for (int round = 0; round < 60_000; round++) {
            Sample sample = samples.get(round % samples.size());
            byte[] frame = sample.frame.clone();
            for (int i = random.nextInt(3); i >= 0; i--) {
                int at = random.nextInt(frame.length / 8) * 8;
                // A slot whose word becomes another offset in the frame leads to another place,
                // possibly to itself.
                long word = random.nextBoolean() ? likely[random.nextInt(likely.length)] : random.nextInt(frame.length / 8) * 8L;
                if (random.nextInt(3) == 0) {
                    FrameBytes.INTS.set(frame, at + 4 * random.nextInt(2), (int) word);
                } else {
                    FrameBytes.LONGS.set(frame, at, word);
                }
            }
            isRefused(sample.type, frame);
        }
    }

    @Test
    void randomGraphFramesAreReadOrRefused() {
        Random random = new Random(8);
        for (int round = 0; round < 20_000; round++) {
            byte[] frame = new byte[random.nextInt(200)];
            random.nextBytes(frame);
            isRefused(HOLDER, frame);
        }
    }

    /** Returns the offsets of the objects' headers, and the end of the last object. */
    private static List<Integer> headers(byte[] frame) {
        List<Integer> headers = new ArrayList<>(List.of(8));
        while (headers.getLast() < frame.length) {
            int at = headers.getLast();
            int number = (int) FrameBytes.INTS.get(frame, at);
            long count = (int) FrameBytes.INTS.get(frame, at + 4);
            GraphType type = GraphKinds.EVERY.type(number);
            long length = type != null ? type.length(count) : number == Frames.TEXT16 ? 2 * count : count;
            headers.add(at + Frames.HEADER + (int) Frames.aligned(length));
        }
        return headers;
    }

    /**
     * Returns a frame with the objects in reverse order. Words that equal the offset of an object
     * are slots.
     */
    private static byte[] reversed(byte[] frame) {
        List<Integer> headers = headers(frame);
        byte[] reversed = frame.clone();
        int to = 8;
        Map<Long, Long> moved = new HashMap<>();
        for (int i = headers.size() - 2; i >= 0; i--) {
            int length = headers.get(i + 1) - headers.get(i);
            System.arraycopy(frame, headers.get(i), reversed, to, length);
            moved.put((long) headers.get(i) + Frames.HEADER, (long) to + Frames.HEADER);
            to += length;
        }
        for (int at = 0; at < reversed.length; at += 8) {
            Long place = moved.get((long) FrameBytes.LONGS.get(reversed, at));
            if (place != null) {
                FrameBytes.LONGS.set(reversed, at, (long) place);
            }
        }
        return reversed;
    }

    @Test
    void graphObjectsCanHaveAnyOrder() {
        for (Sample sample : samples()) {
            byte[] frame = reversed(sample.frame);
            GraphReader reader = GraphReader.of(MemorySegment.ofArray(frame), 0, frame.length, 8, GraphKinds.EVERY, "the frame");
            reader.checkOne(0, sample.type, sample.type.isShared() ? GraphReader.FULL : GraphReader.UNIQUE);
            reader.verify();
            reader.resolve((_, _) -> HERE);
            assertArrayEquals(sample.frame, frame(sample.type, reader.frame().one(0, sample.type)), "written again it is in the order of its slots");
            reader.close();
        }
    }

    @Test
    void unreferencedGraphObjectsAreChecked() {
        for (Sample sample : samples()) {
            byte[] frame = Arrays.copyOf(sample.frame, sample.frame.length + 16);
            FrameBytes.INTS.set(frame, sample.frame.length, Frames.TEXT8);
            FrameBytes.INTS.set(frame, sample.frame.length + 4, 8);
            read(sample.type, frame);
            FrameBytes.INTS.set(frame, sample.frame.length + 4, 9);
            assertThrows(BadMessageException.class, () -> read(sample.type, frame));
            FrameBytes.INTS.set(frame, sample.frame.length + 4, 8);
            FrameBytes.INTS.set(frame, sample.frame.length, Frames.TEXT16 + 1);
            assertThrows(BadMessageException.class, () -> read(sample.type, frame));
        }
    }

    /** A structure of two full pointers: to a number, and to another pair. */
    private static final class PairType extends GraphType {
        static final PairType TYPE = new PairType();

        private PairType() {
            super(16);
        }

        @Override
        protected void verify(GraphReader in, int at) {
            in.checkOne(at, GraphType.LONG, GraphReader.FULL);
            in.checkOne(at + 8, TYPE, GraphReader.FULL);
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            throw new AssertionError("the test writes them");
        }

        @Override
        protected Object view(Frame frame, int at) {
            throw new AssertionError("the test looks at none");
        }

        @Override
        protected boolean isShared() {
            return true;
        }
    }

    @Test
    void fullPointersToObjectsOfAnotherTypeAreRefused() {
        GraphKinds kinds = GraphKinds.of(PairType.TYPE, GraphType.LONG);
        for (int to = 0; to < 20; to++) {
            // A chain of pairs. The first pointer of the last pair, which must lead to a number,
            // leads to a pair.
            byte[] frame = new byte[8 + 20 * 24];
            FrameBytes.LONGS.set(frame, 0, 16L);
            for (int i = 0; i < 20; i++) {
                FrameBytes.LONGS.set(frame, 8 + 24 * i, Frames.KIND_FIRST | 1L << 32);
                FrameBytes.LONGS.set(frame, 24 + 24 * i, i == 19 ? 0L : 40L + 24 * i);
            }
            FrameBytes.LONGS.set(frame, 16 + 24 * 19, 16L + 24 * to);
            GraphReader reader = GraphReader.of(MemorySegment.ofArray(frame), 0, frame.length, 8, kinds, "the frame");
            reader.checkOne(0, PairType.TYPE, GraphReader.FULL);
            assertThrows(BadMessageException.class, reader::verify, "pair " + to);
            reader.close();
        }
    }

    private static final int MANY = 20_000;

    /**
     * Returns a structure with arrays of equal numbers. The arrays are so long that copying takes a
     * while.
     */
    private static Samples uniform(int number) {
        double[] values = new double[MANY];
        Arrays.fill(values, number);
        byte[] flags = new byte[MANY];
        Arrays.fill(flags, (byte) number);
        return Samples.of(Doubles.of(values), Bytes.of(flags), (short) 0, (short) 0, Shorts.of(new short[1]), 0, Ints.of());
    }

    private static void checkUniform(Samples samples) {
        double number = samples.values().get(0);
        for (int i = 0; i < MANY; i++) {
            assertEquals(number, samples.values().get(i));
            assertEquals((byte) number, samples.flags().get(i));
        }
    }

    @Test
    void retainingDuringTheEndOfACallIsWholeOrRefused() throws InterruptedException {
        byte[] area = frame(SAMPLES, uniform(0)).clone();
        AtomicReference<Samples> passed = new AtomicReference<>();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicInteger kept = new AtomicInteger();
        AtomicBoolean isOver = new AtomicBoolean();
        Thread other = Thread.ofPlatform().start(() -> {
            while (!isOver.get()) {
                Samples view = passed.get();
                if (view == null) {
                    Thread.onSpinWait();
                    continue;
                }
                try (Retained<Samples> retained = Graphs.retain(view)) {
                    checkUniform(retained.get());
                    kept.incrementAndGet();
                } catch (IllegalStateException e) {
                    // The call has ended.
                } catch (Throwable e) {
                    failure.set(e);
                    return;
                }
            }
        });
        for (int round = 1; round < 3000 && failure.get() == null; round++) {
            // The peer reuses its memory for each call.
            byte[] next = frame(SAMPLES, uniform(round & 63));
            System.arraycopy(next, 0, area, 0, area.length);
            GraphReader reader = GraphReader.of(MemorySegment.ofArray(area), 0, area.length, 8, GraphKinds.EVERY, "the frame");
            reader.checkOne(0, SAMPLES, GraphReader.UNIQUE);
            reader.verify();
            passed.set((Samples) reader.frame().one(0, SAMPLES));
            // Some calls last until the other thread has retained the structure; most calls do not.
            int before = kept.get();
            while ((round & 63) == 0 && kept.get() == before && failure.get() == null) {
                Thread.onSpinWait();
            }
            reader.close();
        }
        isOver.set(true);
        other.join();
        assertNull(failure.get());
    }

    @Test
    void circlesOfUniquePointersAreRefused() {
        byte[] frame = frame(ITEM, Item.of(1, false, null, null));
        // `next` leads to the structure itself.
        FrameBytes.LONGS.set(frame, 16 + 16, 16L);
        assertThrows(BadMessageException.class, () -> read(ITEM, frame));
    }
}
