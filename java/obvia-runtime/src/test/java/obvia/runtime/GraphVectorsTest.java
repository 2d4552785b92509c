package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import obvia.BadMessageException;
import org.junit.jupiter.api.Test;

/**
 * Tests the frames with structures in testing/vectors/flat, which all languages share. The
 * interface of the tests has the types of these vectors as well.
 */
class GraphVectorsTest {
    private static final Path VECTORS = Path.of("../../testing/vectors/flat/graphs.json");

    /** The keys of a vector, on lines of their own; nested values are indented further. */
    private static final Pattern KEY = Pattern.compile("^   \"(name|method|part|bytes|written)\": \"?([^\"]*?)\"?,?$");

    private static final GraphType ITEM = type("Item");
    private static final GraphType NODE = new NodeType();
    private static final GraphType SAMPLES = type("Samples");
    private static final GraphType CHOICE = type("Choice");
    private static final GraphType ENTRY = type("Entry");

    /** The types, in the order of their numbers in the interface of the vectors. */
    private static final GraphKinds KINDS =
            GraphKinds.of(ITEM, type("Tree"), NODE, GraphType.DOUBLE, GraphType.BYTE, GraphType.SHORT, GraphType.LONG, ENTRY);

    /** The node of the vectors, which has fewer members than the node of the tests' interface. */
    private static final class Node {
        private int number;
        private Object first;
        private Object second;
    }

    private static final class NodeType extends GraphType {
        NodeType() {
            super(24);
        }

        @Override
        protected void verify(GraphReader in, int at) {
            in.checkOne(at + 8, this, GraphReader.FULL);
            in.checkOne(at + 16, this, GraphReader.FULL);
        }

        @Override
        protected void write(GraphWriter out, Object value, int at) {
            Node of = (Node) value;
            out.putInt(at, of.number);
            out.shared(at + 8, this, of.first);
            out.shared(at + 16, this, of.second);
        }

        @Override
        protected Object view(Frame frame, int at) {
            throw new AssertionError("the test builds them");
        }

        @Override
        protected boolean isShared() {
            return true;
        }

        @Override
        protected Node make() {
            return new Node();
        }

        @Override
        protected void fill(GraphReader in, int at, Object value) {
            Node of = (Node) value;
            of.number = in.getInt(at);
            of.first = in.one(at + 8);
            of.second = in.one(at + 16);
        }
    }

    /**
     * The request of a method: the length of the request's block, its verification, and the writing
     * of the built values.
     */
    private record Request(int block, Check check, Rewrite rewrite) {}

    private interface Check {
        void check(GraphReader in);
    }

    private interface Rewrite {
        void write(GraphReader in, GraphWriter out);
    }

    private static final Map<String, Request> REQUESTS =
            Map.of(
                    "Sum", new Request(8, in -> in.checkOne(0, ITEM, GraphReader.UNIQUE), (in, out) -> out.one(0, ITEM, in.one(0))),
                    "Walk",
                    new Request(16, in -> in.checkOne(0, NODE, GraphReader.FULL), (in, out) -> {
                        out.shared(0, NODE, in.one(0));
                        out.putInt(8, in.getInt(8));
                    }),
                    "Shared",
                    new Request(16, in -> {
                        in.checkOne(0, NODE, GraphReader.FULL);
                        in.checkOne(8, NODE, GraphReader.FULL);
                    }, (in, out) -> {
                        out.shared(0, NODE, in.one(0));
                        out.shared(8, NODE, in.one(8));
                    }),
                    "Average", new Request(56, in -> SAMPLES.verify(in, 0), (in, out) -> SAMPLES.write(out, SAMPLES.build(in, 0), 0)),
                    "Choose", new Request(32, in -> CHOICE.verify(in, 0), (in, out) -> CHOICE.write(out, CHOICE.build(in, 0), 0)),
                    "Put",
                    new Request(16, in -> in.checkMany(8, ENTRY, GraphReader.REF, Integer.toUnsignedLong(in.getInt(0))), (in, out) -> {
                        out.putInt(0, in.list(8).size());
                        out.list(8, ENTRY, in.list(8));
                    }));

    private static GraphType type(String name) {
        try {
            var field = Class.forName("trees." + name + "Type").getDeclaredField("TYPE");
            field.setAccessible(true);
            return (GraphType) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the requests of the methods above. */
    private static List<Map<String, String>> vectors(boolean valid) throws Exception {
        List<Map<String, String>> all = new ArrayList<>();
        boolean isWanted = false;
        for (String line : Files.readAllLines(VECTORS)) {
            if (line.startsWith(" \"valid\"") || line.startsWith(" \"invalid\"")) {
                isWanted = line.startsWith(" \"valid\"") == valid;
            }
            if (isWanted && line.equals("  {")) {
                all.add(new HashMap<>());
            }
            Matcher key = KEY.matcher(line);
            if (isWanted && key.find()) {
                all.getLast().put(key.group(1), key.group(2));
            }
        }
        all.removeIf(vector -> !"request".equals(vector.get("part")) || !REQUESTS.containsKey(vector.get("method")));
        assertTrue(all.size() > 5, "there are vectors");
        return all;
    }

    /** Reads a frame, and writes the built values. */
    private static byte[] rewritten(Request request, byte[] frame) {
        GraphReader reader = GraphReader.of(MemorySegment.ofArray(frame), 0, frame.length, request.block, KINDS, "the arguments");
        try {
            request.check.check(reader);
            reader.verify();
            reader.build();
            GraphWriter writer = GraphWriter.of(KINDS, request.block);
            request.rewrite.write(reader, writer);
            byte[] bytes = new byte[writer.finish()];
            writer.copyTo(MemorySegment.ofArray(bytes), 0);
            writer.close();
            return bytes;
        } finally {
            reader.close();
        }
    }

    private static byte[] bytes(Map<String, String> vector) {
        return HexFormat.of().parseHex(vector.get("bytes").replace(" ", ""));
    }

    @Test
    void validGraphVectorsRoundTrip() throws Exception {
        for (Map<String, String> vector : vectors(true)) {
            byte[] frame = bytes(vector);
            byte[] again = rewritten(REQUESTS.get(vector.get("method")), frame);
            boolean isSame = HexFormat.of().formatHex(frame).equals(HexFormat.of().formatHex(again));
            assertEquals(!"false".equals(vector.get("written")), isSame, vector.get("name") + ": " + HexFormat.of().formatHex(again));
        }
    }

    @Test
    void invalidGraphVectorsAreRefused() throws Exception {
        for (Map<String, String> vector : vectors(false)) {
            assertThrows(BadMessageException.class, () -> rewritten(REQUESTS.get(vector.get("method")), bytes(vector)), vector.get("name"));
        }
    }
}
