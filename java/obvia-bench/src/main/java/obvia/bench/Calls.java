package obvia.bench;

import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import obvia.Obvia;
import obvia.SharedMemory;
import obvia.Waiting;

/**
 * Client and server of {@code obvia bench call_lat} in Java.
 *
 * <p>{@code serve NAME ...} exports the object; {@code call NAME METHOD BYTES ...} calls the object
 * on request. Requests and answers go over standard input, which is a socket;
 * bench/cpp/under_bench.h has the protocol. {@code serve-rmi} and {@code call-rmi} do the same with
 * Java's RMI. The last arguments are {@code WAIT --cpu CPU --parent PID}; the parent process has
 * set the CPU affinity.
 */
public final class Calls {
    /** The minimum duration in nanoseconds of the warm-up, which lets the methods be compiled. */
    private static final long WARM_UP = 2_000_000_000L;
    /** The minimum number of calls of the warm-up. */
    private static final int WARM_UP_CALLS = 100_000;

    /**
     * The time in nanoseconds without a compilation after which the warm-up may end. A compiler
     * thread shares its processor with a polling thread, so its compilations can be late.
     */
    private static final long COMPILED = 500_000_000L;

    /** The maximum duration of the warm-up in nanoseconds. */
    private static final long WARM_UP_MOST = 6_000_000_000L;

    private Calls() {}

    /** A measured case. */
    interface Case {
        void call() throws Exception;

        /** Verifies the results of the last {@code calls} calls. */
        void verify(int calls) throws Exception;
    }

    static void expect(String what, long expected, long found) {
        if (expected != found) {
            throw new IllegalStateException(what + ": expected " + expected + ", found " + found);
        }
    }

    private static void answer(String text) throws IOException {
        // Standard input is a socket.
        @SuppressWarnings("resource")
        FileOutputStream socket = new FileOutputStream(FileDescriptor.in);
        socket.write((text + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /**
     * Makes the calls that the bench requests, and answers the requests, until the bench closes the
     * socket.
     */
    private static void converse(Case measured) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        int unverified = 0;
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String[] question = line.split(" ");
            int calls = question.length > 1 ? Integer.parseInt(question[1]) : 0;
            switch (question[0]) {
                case "batch" -> answer(Long.toString(batch(measured, calls)));
                case "stamped" -> answer(stamped(measured, calls));
                case "verify" -> {
                    measured.verify(unverified);
                    unverified = 0;
                    answer("right");
                }
                default -> throw new IllegalArgumentException("an unknown question: " + line);
            }
            unverified += calls;
        }
    }

    private static long batch(Case measured, int calls) throws Exception {
        long before = System.nanoTime();
        for (int call = 0; call < calls; call++) {
            measured.call();
        }
        return System.nanoTime() - before;
    }

    private static String stamped(Case measured, int calls) throws Exception {
        StringBuilder times = new StringBuilder();
        for (int call = 0; call < calls; call++) {
            long before = System.nanoTime();
            measured.call();
            times.append(System.nanoTime() - before).append(' ');
        }
        return times.toString();
    }

    private static Case find(String name, String method, int bytes) {
        IBench object = Obvia.bind(IBench.class, name);
        return switch (method) {
            case "null" -> new Counted(object::null_, object::calls);
            case "visit" -> {
                IBench visitor = new Called();
                yield new Counted(() -> object.visit(visitor), object::calls);
            }
            case "pfs_open" -> new Case() {
                private int handles;

                @Override
                public void call() {
                    handles++;
                    expect("the handle", handles + 8, object.pfsOpen(1, handles, 3, 4));
                }

                @Override
                public void verify(int calls) {}
            };
            case "MoveData" -> new Payload(bytes) {
                @Override
                public void call() {
                    object.moveData(words);
                }
            };
            case "MoveShared" -> new SharedPayload(bytes) {
                @Override
                public void call() {
                    object.moveShared(memory);
                }
            };
            default -> throw new IllegalArgumentException("there is no method " + method);
        };
    }

    /** An action that may throw any exception. */
    interface Action {
        void run() throws Exception;
    }

    /** Calls that the server counts. */
    static final class Counted implements Case {
        private final Action call;
        private final Callable<Long> count;
        private long seen;

        Counted(Action call, Callable<Long> count) {
            this.call = call;
            this.count = count;
        }

        @Override
        public void call() throws Exception {
            call.run();
        }

        @Override
        public void verify(int calls) throws Exception {
            long expected = seen + calls;
            seen = count.call();
            expect("the count of calls", expected, seen);
        }
    }

    /** An array of words that each call returns with the first word changed. */
    abstract static class Payload implements Case {
        final int[] words;
        private int seed;

        Payload(int bytes) {
            words = new int[bytes / 4];
            refill();
        }

        private int pattern(int at) {
            return (at ^ seed * 0x9e3779b9) * 0x85ebca6b;
        }

        /** Fills the array with new values, so that a stale reply is detected. */
        private void refill() {
            seed++;
            for (int at = 0; at < words.length; at++) {
                words[at] = pattern(at);
            }
        }

        @Override
        public void verify(int calls) {
            for (int at = 0; at < words.length; at++) {
                expect("a word of the array", pattern(at) + (at == 0 ? calls : 0), words[at]);
            }
            refill();
        }
    }

    /** A payload in memory that both sides map. */
    abstract static class SharedPayload extends Payload {
        final MemorySegment memory;

        SharedPayload(int bytes) {
            super(bytes);
            memory = Obvia.share(bytes, SharedMemory.Access.WRITE).memory();
            fill();
        }

        private void fill() {
            memory.copyFrom(MemorySegment.ofArray(words));
        }

        @Override
        public void verify(int calls) {
            MemorySegment.ofArray(words).copyFrom(memory);
            super.verify(calls);
            fill();
        }
    }

    private static void serve(String name) {
        Obvia.export(new Called(), IBench.class, name);
        System.out.println("ready");
    }

    /**
     * Makes and verifies calls, as the measurement does, until the just-in-time compilers are idle.
     * The warm-up includes the verification, which would otherwise invalidate compiled code in the
     * measurement.
     */
    private static void warmUp(Case measured) throws Exception {
        CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
        long begin = System.nanoTime();
        long compiled = compilers.getTotalCompilationTime();
        long changed = begin;
        int calls = 0;
        while (true) {
            batch(measured, 1000);
            stamped(measured, 250);
            measured.verify(1250);
            calls += 1250;
            long now = System.nanoTime();
            if (compilers.getTotalCompilationTime() != compiled) {
                compiled = compilers.getTotalCompilationTime();
                changed = now;
            }
            boolean isWarm = now - begin > WARM_UP && calls >= WARM_UP_CALLS && now - changed > COMPILED;
            if (isWarm || now - begin > WARM_UP_MOST) {
                return;
            }
        }
    }

    private static void call(Case measured) throws Exception {
        warmUp(measured);
        System.out.println("ready");
        try {
            converse(measured);
        } catch (Exception e) {
            answer("failed: " + e);
            System.exit(1);
        }
    }

    /** Ends this process as soon as the process of the bench has ended. */
    private static void watch(List<String> arguments) {
        long parent = Long.parseLong(arguments.get(arguments.indexOf("--parent") + 1));
        ProcessHandle.of(parent)
                .orElseThrow(() -> new IllegalStateException("obvia bench has ended"))
                .onExit()
                .thenRun(() -> Runtime.getRuntime().halt(1));
    }

    /** Runs the program. */
    public static void main(String[] words) throws Exception {
        List<String> arguments = List.of(words);
        boolean isServer = !arguments.isEmpty() && arguments.getFirst().startsWith("serve");
        int wait = isServer ? 2 : 4;
        if (arguments.size() < wait + 5) {
            System.err.println("usage, by obvia bench: serve NAME | call NAME METHOD BYTES, WAIT --cpu CPU --parent PID");
            System.exit(2);
        }
        watch(arguments);
        String name = arguments.get(1);
        Obvia.setWaiting(Waiting.valueOf(arguments.get(wait).toUpperCase(Locale.ROOT)));
        switch (arguments.getFirst()) {
            case "serve" -> serve(name);
            case "serve-rmi" -> Rmi.serve();
            case "call" -> call(find(name, arguments.get(2), Integer.parseInt(arguments.get(3))));
            case "call-rmi" -> call(Rmi.find(name, arguments.get(2), Integer.parseInt(arguments.get(3))));
            default -> throw new IllegalArgumentException("there is no task " + arguments.getFirst());
        }
    }
}
