package obvia.runtime.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import obvia.runtime.objects.ContextTest;
import org.junit.jupiter.api.Test;

/** Tests the parsers of a peer's bytes: see {@link Mutations}. */
class FuzzTest {
    /** Error information that was parsed is the same after writing and parsing again. */
    @Test
    void randomErrorInformationIsReadOrRefused() {
        byte[] silent = new ErrorInfo("", "", "", 0).toFrame(ErrorInfo.TEXT_MAX);
        byte[] longest = new ErrorInfo("x".repeat(ErrorInfo.TEXT_MAX), "y", "z", -1).toFrame(ErrorInfo.TEXT_MAX);
        Mutations.of(ErrorInfoTest.FRAME, silent, ErrorInfoTest.FRAME, longest).feed(bytes -> {
            ErrorInfo read = ErrorInfo.read(bytes);
            if (read != null) {
                // Each invalid byte becomes three bytes of UTF-8.
                ErrorInfo cut = ErrorInfo.read(read.toFrame(ErrorInfo.TEXT_MAX));
                assertTrue(read.description().startsWith(cut.description()) && read.source().startsWith(cut.source()));
                assertEquals(read.helpContext(), cut.helpContext());
            }
        });
    }

    /**
     * A context that was parsed is the same after writing, except for the remaining time, which
     * shrinks.
     */
    @Test
    void randomCallContextsAreReadOrRefused() {
        byte[] time = CallContext.NONE.by(Deadline.in(Duration.ofHours(1))).toBytes();
        Mutations.of(CallContext.NONE.toBytes(), time, CallContext.NONE.of(ContextTest.TRACE).toBytes(), CallContext.NONE.of(ContextTest.LONGEST).toBytes()).feed(bytes -> {
            CallContext read = CallContext.read(bytes);
            if (read != null) {
                byte[] again = read.toBytes();
                assertTrue(again.length <= (bytes.length + 7 & -8) && again.length % 8 == 0, "it became longer");
                assertEquals(read.trace(), CallContext.read(again).trace());
            }
        });
    }
}
