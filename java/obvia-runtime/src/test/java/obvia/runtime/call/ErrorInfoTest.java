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

/** Tests the encoding of descriptions of failures, which is the same in other languages. */
public class ErrorInfoTest {
    public static final ErrorInfo SAMPLE = new ErrorInfo("zu gro\u00df", "calc", "calc.chm", 7);

    /** The frame of {@link #SAMPLE}, in the format that docs/flat.md specifies. */
    public static final byte[] FRAME = HexFormat.of()
            .parseHex("07000000" + "08000000" + "04000000" + "08000000" + "7a752067726fc39f" + "63616c63" + "63616c632e63686d" + "00000000");

    @Test
    void errorInformationHasTheDocumentedFrame() {
        assertArrayEquals(FRAME, SAMPLE.toFrame(ErrorInfo.TEXT_MAX));
        assertEquals(SAMPLE, ErrorInfo.read(FRAME));
        ErrorInfo silent = new ErrorInfo("", "", "", 0);
        assertEquals(silent, ErrorInfo.read(silent.toFrame(ErrorInfo.TEXT_MAX)));
    }

    private static ErrorInfo changed(int at, int value) {
        byte[] frame = FRAME.clone();
        ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);
        return ErrorInfo.read(frame);
    }

    @Test
    void malformedErrorInformationFramesAreIgnored() {
        for (int length = 0; length <= FRAME.length - 8; length++) {
            assertNull(ErrorInfo.read(Arrays.copyOf(FRAME, length)));
        }
        assertNull(ErrorInfo.read(Arrays.copyOf(FRAME, FRAME.length + 8)), "more than padding");
        assertNull(changed(36, 1), "padding with something in it");
        for (int at : new int[] {4, 8, 12}) {
            for (int length : new int[] {-1, Integer.MIN_VALUE, Integer.MAX_VALUE, ErrorInfo.TEXT_MAX + 1, 25}) {
                assertNull(changed(at, length), length + " bytes");
            }
        }
        byte[] longest = Arrays.copyOf(FRAME, ErrorInfo.FRAME_MAX + 8);
        assertNull(ErrorInfo.read(longest));
    }

    @Test
    void invalidUtf8InErrorInformationIsReplaced() {
        byte[] frame = FRAME.clone();
        frame[22] = (byte) 0xff;
        assertEquals("zu gro\ufffd\ufffd", ErrorInfo.read(frame).description());
    }

    @Test
    void longErrorTextsAreCutBetweenCharacters() {
        for (String one : new String[] {"\u00df", "\u20ac", "\ud83d\ude00"}) {
            for (String before : new String[] {"", "x", "xx", "xxx"}) {
                String whole = before + one.repeat(ErrorInfo.TEXT_MAX);
                byte[] frame = new ErrorInfo(whole, whole, whole, 1).toFrame(ErrorInfo.TEXT_MAX);
                assertTrue(frame.length <= ErrorInfo.FRAME_MAX);
                ErrorInfo read = ErrorInfo.read(frame);
                assertNotNull(read);
                assertTrue(whole.startsWith(read.description()));
                int bytes = read.description().getBytes(StandardCharsets.UTF_8).length;
                assertTrue(bytes <= ErrorInfo.TEXT_MAX && bytes > ErrorInfo.TEXT_MAX - 4, bytes + " bytes");
                assertEquals(read.description(), read.helpFile());
            }
        }
    }

    @Test
    void longErrorTextsAreCutToTheSlot() {
        byte[] frame = new ErrorInfo("\u20ac".repeat(1000), "calc", "calc.chm", 7).toFrame(ErrorInfo.TEXT_MAX);
        byte[] truncated = ErrorInfo.truncated(frame, 112);
        assertTrue(truncated.length <= 112);
        assertEquals(new ErrorInfo("\u20ac".repeat(32), "", "", 0), ErrorInfo.read(truncated));
    }

    @Test
    void unpairedSurrogatesAreSentAsQuestionMarks() {
        ErrorInfo info = new ErrorInfo("\ud83d", "a\ude00b", "", 0);
        assertEquals(new ErrorInfo("?", "a?b", "", 0), ErrorInfo.read(info.toFrame(ErrorInfo.TEXT_MAX)));
    }

    @Test
    void failuresWithoutTextSendNoFrame() {
        assertEquals(0, ErrorInfo.frameOf(new RpcException(Hresult.E_FAIL), true).length);
        assertEquals(0, ErrorInfo.frameOf(new Exception(), true).length);
        assertEquals(0, ErrorInfo.frameOf(new IllegalStateException() {
            private static final long serialVersionUID = 1;

            @Override
            public String toString() {
                throw new UnsupportedOperationException("it says nothing");
            }
        }, true).length);
    }

    @Test
    void exceptionTextsAreHiddenFromOtherUsers() {
        RuntimeException undeclared = new IllegalStateException("the drawer is stuck");
        String told = "the method threw java.lang.IllegalStateException";
        try {
            ErrorInfo.sendMessages(true);
            assertEquals(told + ": the drawer is stuck", ErrorInfo.of(undeclared, true).description());
            assertEquals(told, ErrorInfo.of(undeclared, false).description());
            ErrorInfo.sendMessages(false);
            assertEquals(told, ErrorInfo.of(undeclared, true).description());
            assertEquals("declared", ErrorInfo.of(new Exception("declared"), false).description());
            assertEquals("meant", ErrorInfo.of(new RpcException(Hresult.E_FAIL, "meant"), false).description());
        } finally {
            ErrorInfo.sendMessages(ErrorInfo.class.desiredAssertionStatus());
        }
    }
}
