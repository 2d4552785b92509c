package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import obvia.Guid;
import obvia.Remote;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests the library's upcalls in a process whose heap is exhausted. */
@Timeout(120)
class UpcallsTest {
    /** A program that releases objects while its heap is exhausted, and afterwards. */
    static final class Exhausted {
        /**
         * The largest number for which Java caches the {@code Long} object, so that boxing the
         * number allocates no memory.
         */
        private static final int KEPT_NUMBERS = 127;

        /** The number of times that the memory is filled. */
        private static final int ROUNDS = 5;

        private record Link(Link next) {}

        private static final class Target implements Remote {}

        // Fields, because the just-in-time compiler may drop local variables that are not read.
        private static byte[][] large = new byte[1 << 10][];
        private static Link small;

        public static void main(String[] arguments) {
            long handle = 0;
            for (int number = 0; number <= KEPT_NUMBERS; number++) {
                handle = Objects.wrap(new Target());
            }
            int missed = KEPT_NUMBERS + 1;
            long next = Objects.wrap(new Object());
            // The first use of a function allocates memory.
            Functions.release(Objects.wrap(new Object()));
            long iid = Arena.global().allocateFrom(ValueLayout.JAVA_LONG, Guid.IUNKNOWN.high(), Guid.IUNKNOWN.low()).address();
            int foundBefore = Objects.isImplemented(missed, iid);
            // The large arrays take most of the memory. The list of small objects then takes the
            // remaining memory.
            try {
                for (int i = 0; i < large.length; i++) {
                    large[i] = new byte[1 << 16];
                }
            } catch (OutOfMemoryError e) {
                // Little memory is left.
            }
            exhaust();
            Functions.release(handle);
            exhaust();
            int found = Objects.isImplemented(missed, iid);
            Objects.dropRule(missed);
            boolean isStillThere = isThere(missed);
            small = null;
            large = null;
            boolean isThereAfterwards = isThere(missed);
            Functions.release(next);
            System.out.println(foundBefore + " " + found + " " + isThereAfterwards + " " + isThere(missed) + " " + isThere(missed + 1));
            System.exit(isStillThere ? 0 : 3);
        }

        private static void exhaust() {
            for (int round = 0; round < ROUNDS; round++) {
                try {
                    while (true) {
                        small = new Link(small);
                    }
                } catch (OutOfMemoryError e) {
                    // A collection may free a little more.
                }
            }
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
    void upcallsWithoutMemoryEndNoProcessAndLaterReleasesRemoveTheirObjects(@TempDir Path folder) throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx32m",
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path") + ":" + System.getProperty("jdk.module.path", ""),
                Exhausted.class.getName());
        Path said = folder.resolve("said");
        Path errors = folder.resolve("errors");
        Process program = new ProcessBuilder(command).redirectOutput(said.toFile()).redirectError(errors.toFile()).start();
        try {
            assertTrue(program.waitFor(60, TimeUnit.SECONDS));
        } finally {
            program.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(said);
        assertEquals("1 0 true false false", lines.isEmpty() ? "" : lines.getLast(), Files.readString(errors));
        assertEquals(0, program.exitValue());
    }
}
