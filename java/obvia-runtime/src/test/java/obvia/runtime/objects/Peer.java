package obvia.runtime.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import obvia.Hresult;
import obvia.Obvia;
import obvia.Remote;
import obvia.RpcException;
import obvia.SharedMemory;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.DirectoryTest;
import obvia.runtime.shm.LocksTest;
import obvia.runtime.shm.NamedSocketTest;
import obvia.runtime.shm.PageAllocationTest;
import obvia.runtime.shm.Wires;

/** Another virtual machine, which ends with its parent process. */
public final class Peer implements AutoCloseable {
    private static final AtomicInteger NEXT = new AtomicInteger();

    /** The options of the virtual machines that tests start. Short runs set some. */
    private static final List<String> OPTIONS = List.of(System.getProperty("obvia.test.options", "").trim().split(" +"));

    /** The interval between two checks of a condition. */
    private static final long LOOK_MILLIS = 2;

    public final String name = "peer-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
    private final Process process;
    private final BufferedReader output;
    private final Path errors;

    private Peer(List<String> options, List<String> arguments) throws IOException {
        this(List.of(), options, arguments);
    }

    private Peer(List<String> by, List<String> options, List<String> arguments) throws IOException {
        List<String> words = new ArrayList<>(by);
        words.add(ProcessHandle.current().info().command().orElse("java"));
        words.addAll(options);
        words.removeIf(String::isEmpty);
        words.addAll(List.of(
                "-cp",
                String.join(":", folder(Remote.class), folder(ProcessRuntime.class), folder(Peer.class)),
                Program.class.getName(),
                name));
        words.addAll(arguments);
        errors = Files.createTempFile("obvia-" + ProcessHandle.current().pid() + "-peer-", ".txt");
        process = new ProcessBuilder(words).redirectError(errors.toFile()).start();
        output = process.inputReader();
        awaitWord("ready");
    }

    private static List<String> with(String... options) {
        return Stream.concat(OPTIONS.stream(), Stream.of(options)).toList();
    }

    private static String folder(Class<?> of) {
        return Path.of(java.net.URI.create(of.getProtectionDomain().getCodeSource().getLocation().toString())).toString();
    }

    /** Starts a server that exports an object by its {@link #name}. */
    public static Peer server(String... options) throws IOException {
        return new Peer(with(options), List.of("serve"));
    }

    /** Starts a server without options of the virtual machine. */
    public static Peer serverAsIs() throws IOException {
        return new Peer(List.of(), List.of("serve"));
    }

    /** Starts a server of calculators: see {@link Calcs#main}. */
    public static Peer calc(String which, String... options) throws IOException {
        return new Peer(with(options), List.of("calc", which));
    }

    /** Starts a process with an object that changes its access rules. */
    public static Peer guard() throws IOException {
        return new Peer(OPTIONS, List.of("guard"));
    }

    /** Starts a process that is about to take a name. */
    public static Peer taking(String name) throws IOException {
        return new Peer(OPTIONS, List.of("lock", name));
    }

    /**
     * Starts a process that has reached the limit of open files, and prints whether a process
     * listens at a socket.
     */
    public static Peer starved(Path socket) throws IOException {
        return new Peer(List.of("sh", "-c", "ulimit -n 256; exec \"$@\"", "sh"), OPTIONS, List.of("starve", socket.toString()));
    }

    /**
     * Starts a process that obeys the modes of files, also if the superuser runs the tests. The
     * process connects to a socket, and prints the failure.
     */
    public static Peer unprivileged(Path socket) throws IOException {
        boolean isSuperuser = Files.getOwner(Path.of("/proc/self")).getName().equals("root");
        List<String> by = isSuperuser ? List.of("setpriv", "--bounding-set", "-dac_override", "--inh-caps", "-dac_override") : List.of();
        return new Peer(by, OPTIONS, List.of("denied", socket.toString()));
    }

    /**
     * Starts a process in a PID namespace of its own, with the outer {@code /proc}. The process
     * prints its ID in the namespace, and whether the list of locks shows a lock of the process as
     * its own.
     */
    public static Peer inside() throws IOException {
        return new Peer(List.of("unshare", "--map-root-user", "--pid", "--fork", "--kill-child"), OPTIONS, List.of("inside"));
    }

    /** Starts a client that passes an object of its own to a server, and waits. */
    public static Peer visitor(String server) throws IOException {
        return new Peer(OPTIONS, List.of("visit", server));
    }

    /** Returns the command that runs another command with {@code size} of private shared memory. */
    private static List<String> withMemory(String size) {
        return List.of("unshare", "--map-root-user", "--mount", "sh", "-c", "mount -t tmpfs -o size=" + size + " tmpfs /dev/shm && exec \"$@\"", "sh");
    }

    /** Whether private shared memory is available on this machine. */
    public static boolean hasMemoryOfItsOwn() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(withMemory("2m"));
        command.add("true");
        return new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0;
    }

    /** Starts a process that has little shared memory and fills it. */
    public static Peer full() throws IOException {
        return new Peer(withMemory("2m"), OPTIONS, List.of("full"));
    }

    /**
     * Starts a process without options of the virtual machine, whose collector is as aggressive as
     * possible.
     */
    public static Peer collecting() throws IOException {
        return new Peer(List.of(), List.of("collect"));
    }

    /** Starts a process that forks a task. */
    public static Peer forking() throws IOException {
        return new Peer(with("--enable-preview"), List.of("fork"));
    }

    /** Starts a process with a thread whose class loader lacks this library. */
    public static Peer stranger() throws IOException {
        return new Peer(OPTIONS, List.of("stranger"));
    }

    /**
     * Starts a process that passes its first object to a server while the process ends. The server
     * calls the object, and the process prints the server's answer.
     */
    public static Peer ending(String server) throws IOException {
        return new Peer(OPTIONS, List.of("end", server));
    }

    /** Starts a client that keeps a reference to an object that a server's object has created. */
    public static Peer holder(String server) throws IOException {
        return new Peer(OPTIONS, List.of("hold", server));
    }

    /**
     * Starts a client that has passed {@code bytes} bytes by reference to a server, and keeps them.
     */
    public static Peer sharer(String server, long bytes) throws IOException {
        return new Peer(OPTIONS, List.of("share", server, Long.toString(bytes)));
    }

    /** Waits until the process prints a word on a line of its own. */
    public void awaitWord(String word) throws IOException {
        String line = output.readLine();
        if (!word.equals(line)) {
            throw new IOException("a peer says " + line + ", " + Files.readString(errors));
        }
    }

    /** Stops a process, and waits until each of its threads has stopped. */
    public static void stop(long pid) {
        signal("STOP", pid);
        Deadline deadline = Wires.patience();
        try {
            while (!isStopped(pid)) {
                deadline.check();
                Thread.sleep(LOOK_MILLIS);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Continues a stopped process. */
    public static void go(long pid) {
        signal("CONT", pid);
    }

    private static void signal(String name, long pid) {
        try {
            assertEquals(0, new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor());
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Whether all threads have stopped. The signal is asynchronous and reaches each thread
     * separately.
     */
    private static boolean isStopped(long pid) throws IOException {
        try (var threads = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads) {
                String line;
                try {
                    line = Files.readString(thread.resolve("stat"));
                } catch (NoSuchFileException e) {
                    // The thread has ended since it was listed.
                    return false;
                }
                // The program's name, which precedes the state, may contain any characters.
                if (line.charAt(line.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        }
    }

    public static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    public long pid() {
        return process.pid();
    }

    public void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** Returns the output of the process to its standard error. */
    public String errors() throws IOException {
        return Files.readString(errors);
    }

    @Override
    public void close() throws IOException {
        kill();
        Files.deleteIfExists(errors);
    }

    /** The program of the other virtual machine. */
    static final class Program {
        public static void main(String[] arguments) throws Exception {
            if (List.of("serve", "calc", "guard", "visit").contains(arguments[1])) {
                Thread.ofPlatform().daemon().start(Program::endWithStarter);
            }
            if (arguments[1].equals("serve")) {
                Obvia.export(new Subject(), ITest.class, arguments[0]);
                Obvia.export(new Trees(), trees.ITrees.class, arguments[0] + "-trees");
                System.out.println("ready");
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
                Path path = Wires.directory().resolve(arguments[2] + ".lock");
                var file = java.nio.channels.FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                Files.setPosixFilePermissions(path, java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
                file.lock();
                System.out.println("ready");
                new BufferedReader(new InputStreamReader(System.in)).readLine();
                return;
            }
            if (arguments[1].equals("inside")) {
                System.out.println("ready");
                System.out.println(ProcessHandle.current().pid() + " " + LocksTest.hasLock());
                return;
            }
            if (arguments[1].equals("starve")) {
                System.out.println("ready");
                System.out.println(DirectoryTest.starve(Path.of(arguments[2])));
                return;
            }
            if (arguments[1].equals("denied")) {
                System.out.println("ready");
                System.out.println(NamedSocketTest.denied(Path.of(arguments[2])));
                return;
            }
            if (arguments[1].equals("collect")) {
                ReachabilityTest.Collected.main();
                System.out.println("ready");
                return;
            }
            if (arguments[1].equals("full")) {
                PageAllocationTest.Full.main(arguments[0]);
                System.out.println("ready");
                return;
            }
            if (arguments[1].equals("end")) {
                ITest there = Obvia.bind(ITest.class, arguments[2]);
                Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(there.visit(new Subject()))));
                System.out.println("ready");
                System.exit(0);
            }
            if (arguments[1].equals("fork")) {
                System.out.println("ready");
                System.out.println(fork());
                return;
            }
            if (arguments[1].equals("stranger")) {
                findFromElsewhere();
                System.out.println("ready");
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

        /**
         * Returns the context in a task that was forked by work with an expired deadline and a
         * trace. Scopes for tasks are a preview feature. Because of the reflection, the compiler
         * does not mark this class as a user of preview features.
         */
        private static String fork() throws Exception {
            Class<?> scopes = Class.forName("java.util.concurrent.StructuredTaskScope");
            CallContext said = CallContext.NONE.by(Deadline.in(java.time.Duration.ZERO)).of(ContextTest.TRACE);
            return said.during(() -> {
                try (AutoCloseable scope = (AutoCloseable) scopes.getMethod("open").invoke(null)) {
                    Object task = scopes.getMethod("fork", java.util.concurrent.Callable.class)
                            .invoke(scope, (java.util.concurrent.Callable<String>) () -> (CallContext.currentDeadline().isOver() ? "late " : "in time ") + Obvia.trace());
                    scopes.getMethod("join").invoke(scope);
                    return (String) Class.forName("java.util.concurrent.StructuredTaskScope$Subtask").getMethod("get").invoke(task);
                }
            });
        }

        /** Looks for the runtime on a thread whose context class loader lacks the runtime. */
        private static void findFromElsewhere() throws IOException {
            try (var elsewhere = new java.net.URLClassLoader(new java.net.URL[0], null)) {
                Thread.currentThread().setContextClassLoader(elsewhere);
                Obvia.connections();
            }
        }

        /**
         * Ends this process when its input is closed. The input is also closed if the test run is
         * killed.
         */
        private static void endWithStarter() {
            try {
                System.in.readAllBytes();
            } catch (IOException e) {
                // No data arrives: this thread only waits for the end of the input.
            }
            Runtime.getRuntime().halt(0);
        }
    }

    /** The exported object. */
    public static final class Subject implements ITest {
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
            return ((ProcessRuntime) obvia.ObviaRuntime.instance()).exports().count();
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

        /** Prints a word when it begins: see {@link Peer#awaitWord}. */
        @Override
        public void sleep(int millis) {
            System.out.println("asleep");
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new RpcException(Hresult.RPC_E_CALL_CANCELED);
            }
        }
    }
}
