package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the library's upcalls in a process whose heap is exhausted. */
@Timeout(120)
class UpcallsTest {
    /** A program that releases objects while its heap is exhausted, and afterwards. */
    static final class Exhausted {
        /** Java keeps objects for the numbers up to 127, so that these need no allocation. */
        private static final int KEPT_NUMBERS = 127;

        private record Link(Link next) {}

        public static void main(String[] arguments) {
            long handle = 0;
            for (int number = 0; number <= KEPT_NUMBERS; number++) {
                handle = Objects.wrap(new Object());
            }
            int missed = KEPT_NUMBERS + 1;
            long next = Objects.wrap(new Object());
            // The first use of a function takes memory.
            Functions.release(Objects.wrap(new Object()));
            long iid = Arena.global().allocate(16, 8).address();
            Objects.isImplemented(missed, iid);
            int found = -1;
            // The first list takes most of the memory, the second one takes the rest.
            byte[][] large = new byte[1 << 10][];
            Link small = null;
            try {
                for (int i = 0; i < large.length; i++) {
                    large[i] = new byte[1 << 16];
                }
            } catch (OutOfMemoryError e) {
                // Little memory is left.
            }
            try {
                while (true) {
                    small = new Link(small);
                }
            } catch (OutOfMemoryError e) {
                Functions.release(handle);
                found = Objects.isImplemented(missed, iid);
                Objects.dropRule(missed);
            }
            boolean isStillThere = isThere(missed);
            small = null;
            large = null;
            boolean isThereAfterwards = isThere(missed);
            Functions.release(next);
            System.out.println(found + " " + isThereAfterwards + " " + isThere(missed) + " " + isThere(missed + 1));
            System.exit(isStillThere ? 0 : 3);
        }

        private static boolean isThere(long number) {
            try {
                Objects.get(number);
                return true;
            } catch (RpcException e) {
                return false;
            } catch (OutOfMemoryError e) {
                return true;
            }
        }
    }

    @Test
    void upcallsWithoutMemoryEndNoProcessAndLaterReleasesRemoveTheirObjects() throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path") + ":" + System.getProperty("jdk.module.path", ""),
                Exhausted.class.getName());
        Process program = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(program.waitFor(60, TimeUnit.SECONDS));
        assertEquals("0 true false false\n", said);
        assertEquals(0, program.exitValue());
    }
}
