package obvia.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import obvia.Bytes;
import obvia.runtime.BareFrame;
import obvia.runtime.FrameReader;
import obvia.runtime.FrameWriter;
import obvia.runtime.Frames;
import obvia.runtime.GraphKinds;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * An array of bytes as an argument:
 * {@code [in] unsigned long n, [in, size_is(n)] const byte *data}.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 2, jvmArgsAppend = {"-Xms512m", "-Xmx512m", "--sun-misc-unsafe-memory-access=allow"})
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class ByteArrays {
    /** The measured array. */
    @State(Scope.Thread)
    public static class Array {
        /** The length of the array in bytes. */
        @Param({"10", "100", "500", "1000", "5000"})
        public int length;

        byte[] bytes;

        /** Creates the array. */
        @Setup
        public void makeArray() {
            bytes = Sample.bytes(length, length);
        }

        /** Compares another array with this array. */
        void check(byte[] other) {
            if (!Arrays.equals(bytes, other)) {
                throw new IllegalStateException("another array comes back");
            }
        }
    }

    /** A frame with the array. */
    @State(Scope.Thread)
    public static class InFrame extends Array {
        private static final int BLOCK = 16;
        private static final int SLOT = 8;
        private static final int KIND = 16;

        private static final int BODY = 24;

        private BareFrame frame;
        private int total;
        private byte[] copied;

        /** Writes the frame. */
        @Setup
        public void makeFrame() {
            total = Frames.plus(BLOCK, length, 1);
            frame = new BareFrame(total);
            write();
            copied = read();
            check();
        }

        /** Compares the content of the frame with the array. */
        @TearDown
        public void check() {
            check(read());
            check(copied);
        }

        int write() {
            frame.memory.set(ValueLayout.JAVA_INT_UNALIGNED, 0, length);
            FrameWriter writer = frame.writer(BLOCK);
            writer.put(bytes, SLOT, KIND, bytes.length);
            return total;
        }

        byte[] read() {
            FrameReader reader = frame.reader(total, BLOCK);
            int count = reader.count(Integer.toUnsignedLong(reader.getInt(0)));
            byte[] read = reader.bytes(SLOT, KIND, count);
            reader.end();
            return read;
        }

        /** Copies only the elements, to an existing array. */
        void copy() {
            MemorySegment.copy(frame.memory, ValueLayout.JAVA_BYTE, BODY, copied, 0, length);
        }
    }

    /** A frame with the array in a structure, which is received as a view. */
    @State(Scope.Thread)
    public static class InStructure extends Array {
        private static final GraphKinds KINDS = GraphKinds.of(BlockType.TYPE, GraphType.BYTE);

        private BareFrame frame;
        private Block block;
        private int total;

        /** Writes the frame. */
        @Setup
        public void makeFrame() {
            frame = new BareFrame(length + 64);
            block = Block.of(Bytes.of(bytes));
            write();
            check();
        }

        /** Compares the content of the frame with the array. */
        @TearDown
        public void check() {
            GraphReader reader = read();
            check(view(reader).data().toArray());
            reader.close();
        }

        int write() {
            total = frame.write(KINDS, BlockType.TYPE, block);
            return total;
        }

        GraphReader read() {
            return frame.check(KINDS, BlockType.TYPE, total);
        }

        static Block view(GraphReader reader) {
            return new Block.View(reader.frame(), BareFrame.place(reader));
        }
    }

    /** The array as other libraries encode it. */
    @State(Scope.Thread)
    public static class Coded extends Array {
        /** The name of the encoder. */
        @Param({"fory", "serialization"})
        public String by;

        private Coder coder;

        /** Encodes the array. */
        @Setup
        public void makeBytes() throws Exception {
            coder = Coder.of(by, "");
            coder.write(bytes);
            check();
        }

        /** Compares the decoded array with the original. */
        @TearDown
        public void check() throws Exception {
            check((byte[]) coder.read());
        }
    }

    /** Writes a frame with the array. */
    @Benchmark
    public int marshalCopy(InFrame frame) {
        return frame.write();
    }

    /** Verifies a frame, and copies its array. */
    @Benchmark
    public byte[] unmarshalCopy(InFrame frame) {
        return frame.read();
    }

    /** Writes a frame with the array in a structure. */
    @Benchmark
    public int marshalStructure(InStructure frame) {
        return frame.write();
    }

    /** Verifies a frame, and reads the last byte in place. */
    @Benchmark
    public byte unmarshalView(InStructure frame) {
        GraphReader reader = frame.read();
        byte last = InStructure.view(reader).data().get(frame.length - 1);
        reader.close();
        return last;
    }

    /** Verifies a frame, and copies the view's array. */
    @Benchmark
    public byte[] unmarshalViewCopy(InStructure frame) {
        GraphReader reader = frame.read();
        byte[] copy = InStructure.view(reader).data().toArray();
        reader.close();
        return copy;
    }

    /** Copies to an existing array, for comparison. */
    @Benchmark
    public void memcpy(InFrame frame) {
        frame.copy();
    }

    /** Creates another array, for comparison. */
    @Benchmark
    public byte[] clone(Array array) {
        return array.bytes.clone();
    }

    /** Encodes the array. */
    @Benchmark
    public int marshal(Coded coded) throws Exception {
        return coded.coder.write(coded.bytes);
    }

    /** Decodes the array. */
    @Benchmark
    public byte[] unmarshal(Coded coded) throws Exception {
        return (byte[]) coded.coder.read();
    }
}
