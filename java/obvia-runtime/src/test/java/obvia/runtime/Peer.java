package obvia.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Obvia;
import obvia.Remote;
import obvia.RpcException;
import obvia.SharedMemory;

/** Another virtual machine, started without any option unless some are given. */
final class Peer implements AutoCloseable {
    private static final AtomicInteger NEXT = new AtomicInteger();

    final String name = "peer-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
    private final Process process;
    private final BufferedReader output;
    private final Path errors;

    private Peer(List<String> options, List<String> arguments) throws IOException {
        List<String> words = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java")));
        words.addAll(options);
        words.addAll(List.of(
                "-cp",
                String.join(":", folder(Remote.class), folder(ProcessRuntime.class), folder(Peer.class)),
                Program.class.getName(),
                name));
        words.addAll(arguments);
        errors = Files.createTempFile("obvia-peer", ".txt");
        process = new ProcessBuilder(words).redirectError(errors.toFile()).start();
        output = process.inputReader();
        String first = output.readLine();
        if (!"ready".equals(first)) {
            throw new IOException("a peer says " + first + ", " + Files.readString(errors));
        }
    }

    private static String folder(Class<?> of) {
        return Path.of(java.net.URI.create(of.getProtectionDomain().getCodeSource().getLocation().toString())).toString();
    }

    /** A server that exports an object by its {@link #name}. */
    static Peer server(String... options) throws IOException {
        return new Peer(List.of(options), List.of("serve"));
    }

    /** A server of calculators: see {@link Calcs#main}. */
    static Peer calc(String which, String... options) throws IOException {
        return new Peer(List.of(options), List.of("calc", which));
    }

    /** One with an object that changes who may call. */
    static Peer guard() throws IOException {
        return new Peer(List.of(), List.of("guard"));
    }

    /** One that is just taking a name. */
    static Peer taking(String name) throws IOException {
        return new Peer(List.of(), List.of("lock", name));
    }

    /** A client that hands an object of its own to a server's, and waits. */
    static Peer visitor(String server) throws IOException {
        return new Peer(List.of(), List.of("visit", server));
    }

    /** A client that has an object of a server's make one, and keeps it. */
    static Peer holder(String server) throws IOException {
        return new Peer(List.of(), List.of("hold", server));
    }

    /** A client that has passed so many bytes by reference to a server, and keeps them. */
    static Peer sharer(String server, long bytes) throws IOException {
        return new Peer(List.of(), List.of("share", server, Long.toString(bytes)));
    }

    /** Stops or continues it: {@code STOP}, {@code CONT}. */
    static void signal(String name, long pid) {
        try {
            assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    long pid() {
        return process.pid();
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** What it said on its standard error. */
    String errors() throws IOException {
        return Files.readString(errors);
    }

    @Override
    public void close() throws IOException {
        kill();
        Files.deleteIfExists(errors);
    }

    /** What it runs. */
    static final class Program {
        public static void main(String[] arguments) throws Exception {
            if (arguments[1].equals("serve")) {
                Obvia.export(new Subject(), ITest.class, arguments[0]);
                Obvia.export(new Trees(), trees.ITrees.class, arguments[0] + "-trees");
                System.out.println("ready");
                // As long as somebody reads what it says.
                return;
            }
            if (arguments[1].equals("calc")) {
                Calcs.main(arguments[0], arguments[2]);
                System.out.println("ready");
                return;
            }
            if (arguments[1].equals("guard")) {
                AccessTest.Guard.main(arguments[0]);
                System.out.println("ready");
                return;
            }
            if (arguments[1].equals("lock")) {
                Path path = ProcessRuntime.directory().path().resolve(arguments[2] + ".lock");
                var file = java.nio.channels.FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                file.lock();
                System.out.println("ready");
                new BufferedReader(new InputStreamReader(System.in)).readLine();
                return;
            }
            if (arguments[1].equals("visit")) {
                System.out.println("ready");
                ICalc there = Obvia.bind(ICalc.class, arguments[2]);
                there.visit(new Calcs.Old(), (int) ProcessHandle.current().pid());
                return;
            }
            if (arguments[1].equals("share")) {
                var shared = Obvia.share(Long.parseLong(arguments[3]), SharedMemory.Access.WRITE);
                Obvia.bind(ITest.class, arguments[2]).stain(shared.memory());
                System.out.println("ready");
                new BufferedReader(new InputStreamReader(System.in)).readLine();
                shared.close();
                return;
            }
            ITest held = Obvia.bind(ITest.class, arguments[2]).make(true);
            System.out.println("ready");
            new BufferedReader(new InputStreamReader(System.in)).readLine();
            held.add(1, 2);
        }
    }

    /** The object. */
    static final class Subject implements ITest {
        @Override
        public int add(int a, int b) {
            return a + b;
        }

        @Override
        public long sum(int[] values) {
            long sum = 0;
            for (int value : values) {
                sum += value;
            }
            return sum;
        }

        @Override
        public int visit(ITest other) {
            return other == null ? -1 : other.add(20, 3) + 1;
        }

        @Override
        public ITest make(boolean isNew) {
            return isNew ? new Subject() : this;
        }

        @Override
        public void fail(int result) {
            if (result == 0) {
                throw new IndexOutOfBoundsException("of the method's own");
            }
            throw new RpcException(result);
        }

        @Override
        public int held() {
            return ((ProcessRuntime) obvia.spi.Runtime.instance()).exports().count();
        }

        @Override
        public long total(MemorySegment values) {
            long total = 0;
            for (long i = 0; i < values.byteSize() / 4; i++) {
                total += values.getAtIndex(ValueLayout.JAVA_INT, i);
            }
            return total;
        }

        @Override
        public void stain(MemorySegment bytes) {
            bytes.fill((byte) 0xee);
        }

        @Override
        public void sleep(int millis) {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new RpcException(obvia.Hresult.RPC_E_CALL_CANCELED);
            }
        }
    }
}
