package obvia.runtime.call;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import obvia.Hresult;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

/** Tests the bytes of descriptions of failures, which are shared with other languages. */
public class WordsTest {
    public static final Words SAMPLE = new Words("zu gro\u00df", "calc", "calc.chm", 7);

    /** The frame in docs/flat.md. */
    public static final byte[] FRAME = HexFormat.of()
            .parseHex("07000000" + "08000000" + "04000000" + "08000000" + "7a752067726fc39f" + "63616c63" + "63616c632e63686d" + "00000000");

    @Test
    void aFrameIsWhatTheDocumentSays() {
        assertArrayEquals(FRAME, SAMPLE.toFrame(Words.TEXT_MAX));
        assertEquals(SAMPLE, Words.read(FRAME));
        Words silent = new Words("", "", "", 0);
        assertEquals(silent, Words.read(silent.toFrame(Words.TEXT_MAX)));
    }

    private static Words changed(int at, int value) {
        byte[] frame = FRAME.clone();
        ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        return Words.read(frame);
    }

    @Test
    void whatIsNoFrameIsNotRead() {
        for (int length = 0; length <= FRAME.length - 8; length++) {
            assertNull(Words.read(Arrays.copyOf(FRAME, length)));
        }
        assertNull(Words.read(Arrays.copyOf(FRAME, FRAME.length + 8)), "more than padding");
        assertNull(changed(36, 1), "padding with something in it");
        for (int at : new int[] {4, 8, 12}) {
            for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, Words.TEXT_MAX + 1, 25}) {
                assertNull(changed(at, length), length + " bytes");
            }
        }
        byte[] longest = Arrays.copyOf(FRAME, Words.FRAME_MAX + 8);
        assertNull(Words.read(longest));
    }

    @Test
    void whatIsNoUtf8IsReplaced() {
        byte[] frame = FRAME.clone();
        frame[22] = (byte) 0xff;
        assertEquals("zu gro\ufffd\ufffd", Words.read(frame).description());
    }

    @Test
    void longTextsAreCutBetweenCharacters() {
        for (String one : new String[] {"\u00df", "\u20ac", "\ud83d\ude00"}) {
            for (String before : new String[] {"", "x", "xx", "xxx"}) {
                String whole = before + one.repeat(Words.TEXT_MAX);
                byte[] frame = new Words(whole, whole, whole, 1).toFrame(Words.TEXT_MAX);
                assertTrue(frame.length <= Words.FRAME_MAX);
                Words read = Words.read(frame);
                assertNotNull(read);
                assertTrue(whole.startsWith(read.description()));
                int bytes = read.description().getBytes(StandardCharsets.UTF_8).length;
                assertTrue(bytes <= Words.TEXT_MAX && bytes > Words.TEXT_MAX - 4, bytes + " bytes");
                assertEquals(read.description(), read.helpFile());
            }
        }
    }

    @Test
    void aSlotHasRoomForTheBeginning() {
        byte[] frame = new Words("\u20ac".repeat(1000), "calc", "calc.chm", 7).toFrame(Words.TEXT_MAX);
        byte[] beginning = Words.beginning(frame, 112);
        assertTrue(beginning.length <= 112);
        assertEquals(new Words("\u20ac".repeat(32), "", "", 0), Words.read(beginning));
    }

    @Test
    void halfACharacterIsAQuestionMark() {
        Words words = new Words("\ud83d", "a\ude00b", "", 0);
        assertEquals(new Words("?", "a?b", "", 0), Words.read(words.toFrame(Words.TEXT_MAX)));
    }

    @Test
    void whatSaysNothingHasNoFrame() {
        assertEquals(0, Words.frameOf(new RpcException(Hresult.E_FAIL), true).length);
        assertEquals(0, Words.frameOf(new Exception(), true).length);
        assertEquals(0, Words.frameOf(new IllegalStateException() {
            private static final long serialVersionUID = 1;

            @Override
            public String toString() {
                throw new UnsupportedOperationException("it says nothing");
            }
        }, true).length);
    }

    @Test
    void messagesOfOthersAreNotForOtherUsers() {
        RuntimeException undeclared = new IllegalStateException("the drawer is stuck");
        String told = "the method threw java.lang.IllegalStateException";
        try {
            Words.setTexts(true);
            assertEquals(told + ": the drawer is stuck", Words.of(undeclared, true).description());
            assertEquals(told, Words.of(undeclared, false).description());
            Words.setTexts(false);
            assertEquals(told, Words.of(undeclared, true).description());
            assertEquals("declared", Words.of(new Exception("declared"), false).description());
            assertEquals("meant", Words.of(new RpcException(Hresult.E_FAIL, "meant"), false).description());
        } finally {
            Words.setTexts(Words.class.desiredAssertionStatus());
        }
    }
}
