package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.call.Fault;
import org.junit.jupiter.api.Test;

class FramesTest {
    /** The request in the example of docs/flat.md. */
    static final byte[] DOCUMENTED = HexFormat.of().parseHex("03000000000000001800000000000000" + "1000000003000000" + "0100000002000000" + "0300000000000000");

    private static FrameReader reader(byte[] frame, int block) {
        return new FrameReader(MemorySegment.ofArray(frame), 0, frame.length, block, "the frame");
    }

    private static int[] sum(byte[] frame) {
        FrameReader arguments = reader(frame, 16);
        int count = arguments.getInt(0);
        int[] values = arguments.ints(8, 16, arguments.count(Integer.toUnsignedLong(count)));
        arguments.end();
        return values;
    }

    /**
     * Returns a frame with an object of each kind: both kinds of strings, a reference, an optional
     * value, and an allocated array.
     */
    static byte[] written() {
        byte[] narrow = Frames.utf8("gr\u00fc\u00df");
        char[] wide = Frames.utf16("\ud83d\ude00");
        byte[] reference = {1, 2, 3};
        double[] values = {1, -2};
        int length = Frames.plus(48, narrow);
        length = Frames.plus(length, wide);
        length = Frames.plus(length, reference);
        length = Frames.plus(length, 1, 1);
        length = Frames.plus(length, values.length, 8);
        byte[] frame = new byte[length];
        // The memory has arbitrary content before the frame is written.
        new Random(1).nextBytes(frame);
        MemorySegment memory = MemorySegment.ofArray(frame);
        FrameWriter writer = new FrameWriter(memory, 0, 48);
        writer.text(0, narrow);
        writer.wide(8, wide);
        writer.none(16);
        writer.reference(24, reference);
        memory.set(Flat.BYTE, writer.object(32, 16, 1, 1), (byte) 1);
        writer.put(values, 40, 17, values.length);
        return frame;
    }

    static void read(FrameReader reader) {
        reader.notNull(reader.text(0));
        reader.notNull(reader.wide(8));
        reader.text(16);
        reader.reference(24);
        int there = reader.optional(32, 16, 1);
        if (there >= 0) {
            reader.getBoolean(there);
        }
        reader.copyDoubles(reader.allocated(40, 17, 8, 2), 2);
        reader.end();
    }

    @Test
    void theDocumentedFrameEqualsTheWrittenOne() {
        byte[] frame = new byte[Frames.plus(16, 3, 4)];
        MemorySegment.ofArray(frame).set(Flat.INT, 0, 3);
        new FrameWriter(MemorySegment.ofArray(frame), 0, 16).put(new int[] {1, 2, 3}, 8, 16, 3);
        assertArrayEquals(DOCUMENTED, frame);
        assertArrayEquals(new int[] {1, 2, 3}, sum(frame));
    }

    @Test
    void writtenFramesAreReadBack() {
        FrameReader reader = reader(written(), 48);
        assertEquals("gr\u00fc\u00df", reader.text(0));
        assertEquals("\ud83d\ude00", reader.wide(8));
        assertNull(reader.text(16));
        assertArrayEquals(new byte[] {1, 2, 3}, reader.reference(24));
        assertEquals(true, reader.getBoolean(reader.optional(32, 16, 1)));
        assertArrayEquals(new double[] {1, -2}, reader.copyDoubles(reader.allocated(40, 17, 8, 2), 2));
        reader.end();
    }

    @Test
    void arraySlotsTypesAndCountsAreCheckedExactly() {
        for (int bit = 0; bit < 24 * 8; bit++) {
            byte[] frame = DOCUMENTED.clone();
            frame[bit / 8] ^= (byte) (1 << bit % 8);
            if (bit / 8 < 4 || bit / 8 >= 8) {
                assertThrows(BadMessageException.class, () -> sum(frame), "bit " + bit);
            }
        }
        for (int length = 0; length < DOCUMENTED.length; length++) {
            byte[] frame = Arrays.copyOf(DOCUMENTED, length);
            assertThrows(BadMessageException.class, () -> sum(frame), length + " bytes");
        }
        assertThrows(BadMessageException.class, () -> sum(Arrays.copyOf(DOCUMENTED, 48)));
    }

    @Test
    void framesBeyondTheLimitAreRefused() {
        int most = Frames.FRAME_MAX;
        assertEquals(most, Frames.plus(most - 16, 1, 8));
        for (int length : new int[] {most - 15, most - 8, most - 7, most}) {
            RpcException refused = assertThrows(RpcException.class, () -> Frames.plus(length, 1, 8), length + " bytes");
            assertEquals(Hresult.E_OUTOFMEMORY, refused.result());
            assertEquals("the arguments or results have " + (length + 16L) + " bytes; the limit is " + most, refused.getMessage());
        }
    }

    @Test
    void malformedStringsAreRefused() {
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, () -> Frames.utf8("a\0b")).result());
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, () -> Frames.utf16("\0")).result());
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, () -> Frames.utf8("\ud83d")).result());
        for (byte[] characters : new byte[][] {{}, {'a'}, {0, 0}, {'a', 0, 'b', 0}, {(byte) 0xff, 0}}) {
            byte[] frame = new byte[Frames.plus(8, characters)];
            new FrameWriter(MemorySegment.ofArray(frame), 0, 8).text(0, characters);
            assertThrows(BadMessageException.class, () -> reader(frame, 8).text(0), new String(characters, StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void expressionsWithoutAValueAreRefused() {
        FrameReader reader = reader(new byte[8], 8);
        assertThrows(BadMessageException.class, () -> reader.count(() -> Math.multiplyExact(Long.MAX_VALUE, 2L)));
        assertThrows(BadMessageException.class, () -> reader.count(() -> Frames.remainder(1, 0)));
        assertThrows(BadMessageException.class, () -> reader.count(() -> Frames.shiftLeft(1, 64)));
        assertThrows(BadMessageException.class, () -> reader.count(-1));
        assertThrows(BadMessageException.class, () -> reader.used(3, 2));
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, () -> Frames.count(() -> Frames.unsigned(-1))).result());
        assertEquals(Hresult.E_OUTOFMEMORY, assertThrows(RpcException.class, () -> Frames.plus(16, Integer.MAX_VALUE, 4)).result());
        assertEquals(Fault.NO_MEMORY, assertThrows(Fault.Refused.class, () -> reader.room(1 << 30, 8)).status());
    }

    @Test
    void theArraysOfAllResultsFitOneFrame() {
        FrameReader arguments = reader(new byte[8], 8);
        assertEquals(1 << 24, arguments.room(1 << 24, 8));
        assertEquals(1 << 27, arguments.room(1 << 27, 1));
        assertEquals(0, arguments.room(0, 8));
        assertEquals(Fault.NO_MEMORY, assertThrows(Fault.Refused.class, () -> arguments.room(1, 1)).status());
    }

    @Test
    void unsignedValuesOutsideTheirRangeAreRefusedHoweverLargeTheyAre() {
        FrameReader arguments = reader(new byte[8], 8);
        for (long value : new long[] {1, 11, Long.MIN_VALUE, -1}) {
            BadMessageException bad = assertThrows(BadMessageException.class, () -> arguments.checkUnsignedRange(value, 2, 10));
            assertTrue(bad.getMessage().contains(Long.toUnsignedString(value) + " is not within 2 and 10"), bad.getMessage());
            RpcException invalid = assertThrows(RpcException.class, () -> Frames.checkUnsignedRange(value, 2, 10));
            assertEquals(Hresult.E_INVALIDARG, invalid.result());
        }
        arguments.checkUnsignedRange(10, 2, 10);
        Frames.checkUnsignedRange(2, 2, 10);
        assertThrows(BadMessageException.class, () -> arguments.checkUnsignedRange(-1, -1, 10));
    }
}
