package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import obvia.runtime.call.Mutations;
import org.junit.jupiter.api.Test;

/** Tests the parsers of a peer's bytes: see {@link Mutations}. */
class FuzzTest {
    private static final int[] KINDS = {0, 1, 2, 3, 7, 8, 16, 64};

    private static FrameReader reader(byte[] frame, int block) {
        MemorySegment memory = MemorySegment.ofArray(frame);
        return new FrameReader(memory, 0, frame.length, block, "the frame");
    }

    @Test
    void randomFramesAreReadOrRefused() {
        Mutations.of(FramesTest.written()).feed(bytes -> FramesTest.read(reader(bytes, 48)));
        Mutations.of(FramesTest.DOCUMENTED).feed(bytes -> {
            FrameReader frame = reader(bytes, 16);
            int count = frame.count(Integer.toUnsignedLong(frame.getInt(0)));
            assertEquals(count, frame.ints(8, 16, count).length);
            frame.end();
        });
    }

    /** Reads objects in a random sequence, which fits no interface. */
    @Test
    void randomSlotsFindObjectsOrAreRefused() {
        Random random = new Random(Mutations.SEED);
        Mutations.of(FramesTest.written(), FramesTest.DOCUMENTED).feed(bytes -> {
            int block = 8 * random.nextInt(1, 7);
            FrameReader frame = reader(bytes, block);
            for (int slot = 0; slot < block; slot += 8) {
                int kind = KINDS[random.nextInt(KINDS.length)];
                int size = 1 << random.nextInt(4);
                int body = switch (random.nextInt(6)) {
                    case 0 -> frame.find(slot, kind, frame.count(Mutations.word(random)), size);
                    case 1 -> frame.find(slot, (int) at(bytes, slot), size);
                    case 2 -> frame.optional(slot, kind, size);
                    case 3 -> frame.allocated(slot, kind, size, random.nextInt(4));
                    case 4 -> {
                        frame.text(slot);
                        yield 0;
                    }
                    default -> {
                        frame.wide(slot);
                        yield 0;
                    }
                };
                assertTrue(body <= bytes.length, "an object at " + body);
            }
            frame.end();
        });
    }

    /** Returns the type of a slot's object, so that some reads succeed. */
    private static long at(byte[] bytes, int slot) {
        ByteBuffer frame = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long body = frame.getLong(slot);
        return body >= 8 && body <= bytes.length ? frame.getInt((int) body - 8) : 16;
    }
}
