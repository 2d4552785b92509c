package obvia.bench;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.apache.fory.Fory;
import org.apache.fory.memory.MemoryBuffer;

/** An encoding of objects as bytes. */
interface Coder {
    /** Encodes an object over the bytes of the previous object, and returns the number of bytes. */
    int write(Object object) throws IOException;

    /** Decodes the object that was encoded last. */
    Object read() throws IOException, ClassNotFoundException;

    /** Releases the object that was decoded last. */
    default void done() {}

    /** Returns a list in the form that this encoding takes. */
    default Object list(String shape, int length) {
        return Sample.list(shape, length);
    }

    /** Returns the encoding with a name, for lists of a shape: see {@link Lists#by}. */
    static Coder of(String name, String shape) {
        return switch (name) {
            case "tree" -> ByFrames.trees(shape);
            case "graph" -> ByFrames.graphs(shape);
            case "fory" -> new ByFory(false);
            case "fory-references" -> new ByFory(true);
            case "serialization" -> new BySerialization();
            default -> throw new IllegalArgumentException("there is no coder " + name);
        };
    }

    /** Apache Fory, with registered classes and generated code. */
    final class ByFory implements Coder {
        private final Fory fory;
        private final MemoryBuffer buffer = MemoryBuffer.newHeapBuffer(1 << 16);

        ByFory(boolean tracksReferences) {
            fory = Fory.builder()
                    .withXlang(false)
                    .withCompatible(false)
                    .withRefTracking(tracksReferences)
                    .requireClassRegistration(true)
                    .withAsyncCompilation(false)
                    // Lists are encoded recursively.
                    .withMaxDepth(10_000)
                    .build();
            fory.register(Sample.Ll.class);
            fory.register(Sample.Lba.class);
        }

        @Override
        public int write(Object object) {
            buffer.writerIndex(0);
            fory.serialize(buffer, object);
            return buffer.writerIndex();
        }

        @Override
        public Object read() {
            buffer.readerIndex(0);
            return fory.deserialize(buffer);
        }
    }

    /** Java's own serialization. */
    final class BySerialization implements Coder {
        private final ByteArrayOutputStream stream = new ByteArrayOutputStream(1 << 16);
        private byte[] written;

        @Override
        public int write(Object object) throws IOException {
            stream.reset();
            try (ObjectOutputStream objects = new ObjectOutputStream(stream)) {
                objects.writeObject(object);
            }
            written = null;
            return stream.size();
        }

        @Override
        public Object read() throws IOException, ClassNotFoundException {
            // The bytes are taken from the stream once, outside of the measurement.
            if (written == null) {
                written = stream.toByteArray();
            }
            try (ObjectInputStream objects = new ObjectInputStream(new ByteArrayInputStream(written))) {
                return objects.readObject();
            }
        }
    }
}
