package obvia.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Export;
import obvia.Hresult;
import obvia.Obvia;
import obvia.Remote;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests the replacement of objects that have access rules, with a client over a network and through
 * shared memory.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReplacementTest {
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final String DENIED = Integer.toHexString(Hresult.E_ACCESSDENIED);
    private static final int MANY = 2_000;

    private static String binding;

    private final String name = "replacement-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
    private final Teller former = new Teller(1);
    private final Teller heir = new Teller(2);
    private Peer client;

    private record Teller(int number) implements ITeller {
        @Override
        public int tell() {
            return number;
        }
    }

    /**
     * A client in a virtual machine of its own. For each line of words the client prints an answer.
     *
     * <ul>
     *  <li>{@code bind KEY NAME [BINDING]} binds an object, on this host without a binding
     *  <li>{@code tell KEY} calls the object, and prints its number or the HRESULT
     *  <li>{@code hammer KEY TIMES} calls the object often, and prints all different results
     *  <li>{@code release KEY} releases the object
     * </ul>
     */
    static final class Program {
        private static final Map<String, ITeller> HELD = new HashMap<>();

        private Program() {}

        public static void main(String[] arguments) throws IOException {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                System.out.println(answer(line.split(" ")));
            }
            Runtime.getRuntime().halt(0);
        }

        private static String answer(String... words) {
            try {
                ITeller held = HELD.get(words[1]);
                switch (words[0]) {
                    case "bind" -> HELD.put(words[1], words.length == 3 ? Obvia.bind(ITeller.class, words[2]) : Obvia.connect(words[3]).bind(ITeller.class, words[2]));
                    case "release" -> Obvia.release(HELD.remove(words[1]));
                    case "hammer" -> {
                        TreeSet<String> answers = new TreeSet<>();
                        for (int turn = 0; turn < Integer.parseInt(words[2]); turn++) {
                            answers.add(answer("tell", words[1]));
                        }
                        return String.join(" ", answers);
                    }
                    default -> {
                        return Integer.toString(held.tell());
                    }
                }
                return "done";
            } catch (RpcException e) {
                return Integer.toHexString(e.result());
            }
        }
    }

    private static final class Peer implements AutoCloseable {
        private final Process process;
        private final PrintWriter input;

        Peer(Class<?> program, String... arguments) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-cp",
                    System.getProperty("java.class.path") + ":" + System.getProperty("jdk.module.path", ""),
                    program.getName()));
            command.addAll(List.of(arguments));
            process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            input = new PrintWriter(process.outputWriter(), true);
        }

        String say(String... words) throws IOException {
            input.println(String.join(" ", words));
            return process.inputReader().readLine();
        }

        /** Binds an object over the network, or on this host. */
        void bind(String key, String name, boolean isFar) throws IOException {
            assertEquals("done", isFar ? say("bind", key, name, binding) : say("bind", key, name));
        }

        /** Calls an object often while this thread does something else again and again. */
        String hammer(String key, Runnable meanwhile) throws Exception {
            CompletableFuture<String> answers = CompletableFuture.supplyAsync(() -> {
                try {
                    return say("hammer", key, Integer.toString(MANY));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            while (!answers.isDone()) {
                meanwhile.run();
            }
            return answers.get(1, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    @BeforeAll
    static void listen() {
        // The runtime creates proxies and stubs of this package's interface.
        ReplacementTest.class.getModule().addExports("obvia.network", InterfaceInfo.class.getModule());
        binding = Obvia.listen("ncacn_ip_tcp:127.0.0.1");
    }

    @BeforeEach
    void start() throws IOException {
        client = new Peer(Program.class);
    }

    @AfterEach
    void end() {
        client.close();
        Obvia.clearAccess(former);
        Obvia.clearAccess(heir);
    }

    private static void isRefused(Export export, Remote object) {
        assertEquals(Hresult.E_INVALIDARG, assertThrows(RpcException.class, () -> export.replace(object)).result());
    }

    /** Gives the client a reference to the heir, and then forbids calls of it. */
    private void giveForbiddenHeir() throws IOException {
        try (Export _ = Obvia.export(heir, ITeller.class, name + "-heir")) {
            client.bind("heir", name + "-heir", true);
        }
        Obvia.setAccess(heir, _ -> false);
        assertEquals(DENIED, client.say("tell", "heir"));
    }

    @Test
    void aRefusedReplacementChangesNoReferenceAndNoRule() throws Exception {
        try (Export export = Obvia.export(former, ITeller.class, name)) {
            client.bind("far", name, true);
            client.bind("near", name, false);
            giveForbiddenHeir();
            isRefused(export, heir);
            assertEquals(DENIED, client.say("tell", "heir"));
            for (String key : List.of("far", "near")) {
                assertEquals("1", client.say("tell", key), key);
            }
            client.bind("later", name, false);
            assertEquals("1", client.say("tell", "later"));
        }
    }

    @Test
    void aRefusedReplacementLeavesNoRuleBehind() throws Exception {
        Obvia.setAccess(former, _ -> false);
        try (Export export = Obvia.export(former, ITeller.class, name);
                Export other = Obvia.export(heir, ITeller.class, name + "-heir")) {
            client.bind("far-heir", other.name(), true);
            client.bind("near-heir", other.name(), false);
            isRefused(export, heir);
            assertEquals("2", client.say("tell", "far-heir"));
            client.bind("later", other.name(), false);
            assertEquals("2", client.say("tell", "later"));
        }
    }

    @Test
    void anObjectWithARuleReplacesAnotherAfterItHasHadReferencesOnlyWithoutTheRule() throws Exception {
        try (Export export = Obvia.export(former, ITeller.class, name)) {
            client.bind("far", name, true);
            client.bind("near", name, false);
            giveForbiddenHeir();
            isRefused(export, heir);
            assertEquals("done", client.say("release", "heir"));
            isRefused(export, heir);
            Obvia.clearAccess(heir);
            // The client's process reports the release in its own time.
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (!isReplaced(export)) {
                assertTrue(System.nanoTime() < end);
                Thread.sleep(1);
            }
            for (String key : List.of("far", "near")) {
                assertEquals("2", client.say("tell", key), key);
            }
            Obvia.setAccess(heir, _ -> false);
            for (String key : List.of("far", "near")) {
                assertEquals(DENIED, client.say("tell", key), key);
            }
        }
    }

    @Test
    void anInheritedRuleHoldsForReferencesThatTheNewObjectHas() throws Exception {
        try (Export export = Obvia.export(former, ITeller.class, name)) {
            try (Export other = Obvia.export(heir, ITeller.class, name + "-heir")) {
                client.bind("near", other.name(), false);
                isRefused(export, heir);
            }
            Obvia.setAccess(former, _ -> false);
            assertEquals("2", client.say("tell", "near"));
            export.replace(heir);
            assertEquals(DENIED, client.say("tell", "near"));
        }
    }

    /** A process that has references over a network, but does not listen. */
    static final class Unheard {
        private Unheard() {}

        public static void main(String[] arguments) throws IOException {
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
            ITeller former = new Teller(1);
            Export export = Obvia.export(former, ITeller.class, arguments[0]);
            System.out.println(HexFormat.of().formatHex(Obvia.marshal(former, ITeller.class)));
            input.readLine();
            export.replace(new Teller(2));
            System.out.println("replaced");
            input.readLine();
            Runtime.getRuntime().halt(0);
        }
    }

    @Test
    void referencesOverANetworkLeadToTheNewObjectInAProcessThatDoesNotListen() throws Exception {
        try (Peer server = new Peer(Unheard.class, name)) {
            byte[] reference = HexFormat.of().parseHex(server.process.inputReader().readLine());
            ITeller teller = Obvia.unmarshal(reference, ITeller.class);
            assertEquals(1, teller.tell());
            assertEquals("replaced", server.say("replace"));
            assertEquals(2, teller.tell());
        }
    }

    private boolean isReplaced(Export export) {
        try {
            export.replace(heir);
            return true;
        } catch (RpcException e) {
            assertEquals(Hresult.E_INVALIDARG, e.result());
            return false;
        }
    }

    @Test
    void aReplacementInheritsARuleAndTheFormerObjectKeepsIt() throws Exception {
        Obvia.setAccess(former, _ -> true);
        try (Export export = Obvia.export(former, ITeller.class, name)) {
            client.bind("far", name, true);
            client.bind("near", name, false);
            Obvia.setAccess(former, _ -> false);
            export.replace(heir);
            for (String key : List.of("far", "near")) {
                assertEquals(DENIED, client.say("tell", key), key);
            }
            try (Export again = Obvia.export(former, ITeller.class, name + "-again")) {
                assertEquals(DENIED, client.say("bind", "again", again.name(), binding));
                Obvia.clearAccess(former);
                client.bind("again", again.name(), true);
                assertEquals("1", client.say("tell", "again"));
            }
            assertEquals(DENIED, client.say("tell", "far"), "the heir's rule is its own now");
            Obvia.clearAccess(heir);
            assertEquals("2", client.say("tell", "far"));
        }
    }

    @Test
    void aForbiddenObjectIsNeverCalledDuringRefusedReplacements() throws Exception {
        try (Export export = Obvia.export(former, ITeller.class, name)) {
            client.bind("far", name, true);
            giveForbiddenHeir();
            assertEquals(DENIED, client.hammer("heir", () -> isRefused(export, heir)));
        }
    }

    @Test
    void aForbiddenReplacementIsNeverCalled() throws Exception {
        Obvia.setAccess(former, _ -> true);
        Obvia.setAccess(heir, _ -> false);
        try (Export export = Obvia.export(former, ITeller.class, name)) {
            client.bind("far", name, true);
            String answers = client.hammer("far", () -> {
                export.replace(heir);
                export.replace(former);
            });
            assertTrue(List.of("1", DENIED, "1 " + DENIED).contains(answers), answers);
            assertEquals("1", client.say("tell", "far"), "the former object is back, with its own rule");
        }
    }
}
