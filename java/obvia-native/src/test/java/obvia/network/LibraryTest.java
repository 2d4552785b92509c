package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import obvia.Obvia;
import obvia.RpcException;
import org.junit.jupiter.api.Test;

/** Tests the failures of programs without the native library, or without native access. */
class LibraryTest {
    /** Requests a network and prints the failure. */
    static final class Asking {
        public static void main(String[] arguments) {
            try {
                Obvia.listen("ncacn_ip_tcp:127.0.0.1");
                System.out.println("it listens");
            } catch (RpcException e) {
                System.out.println(Integer.toHexString(e.result()) + " " + e.getMessage());
            }
            System.exit(0);
        }
    }

    private static String said(String... options) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path") + ":" + System.getProperty("jdk.module.path", ""), Asking.class.getName()));
        Process program = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(program.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(program.waitFor(30, TimeUnit.SECONDS));
        assertEquals(0, program.exitValue(), said);
        return said;
    }

    @Test
    void errorsAboutAMissingNativeLibraryNameIt() throws Exception {
        String said = said("--enable-native-access=ALL-UNNAMED", "-Dobvia.native=/nowhere/libobvia_java.so");
        assertEquals("80004005 the native library /nowhere/libobvia_java.so cannot be loaded: does it exist, and is it for this machine?\n", said);
    }

    @Test
    void errorsAboutDeniedNativeAccessNameTheOption() throws Exception {
        String said = said("--illegal-native-access=deny", "-Dobvia.native=/nowhere/libobvia_java.so");
        assertTrue(said.startsWith("80070005 networks need native code") && said.contains("--enable-native-access"), said);
    }

    @Test
    void missingNativeAccessCausesOnlyTheWarningOfTheVirtualMachine() throws Exception {
        String said = said("-Dobvia.native=/nowhere/libobvia_java.so");
        assertTrue(said.contains("--enable-native-access=ALL-UNNAMED to avoid a warning"), said);
    }
}
