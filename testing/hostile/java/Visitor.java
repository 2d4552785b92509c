package peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import obvia.Obvia;
import obvia.RpcException;
import victim.Color;
import victim.IPair;
import victim.IThing;
import victim.IVictim;
import victim.Mark;

/**
 * Visits hostile servers, as {@code client.rs} does. For each line of standard input, calls the
 * good server, visits the hostile server that the line names, calls the good server again, and
 * reports the outcome. A second word {@code first} skips the first calls of the good server. With
 * {@code again} and an opnum, the method with this opnum is called many times. A report ends with
 * {@code good}.
 *
 * <p>Any exception other than {@link RpcException} ends the program.
 */
final class Visitor {
    /** The time limit of a call to a hostile server. */
    private static final Duration SHORT = Duration.ofSeconds(2);

    private static final String GOOD = "victim";
    private static final Mark MARK = new Mark(true, Color.BLUE, 10);

    private Visitor() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                visit(line.split(" "));
                System.out.println("good");
            }
        } catch (RuntimeException | Error e) {
            e.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void visit(String[] words) {
        if (words.length != 2) {
            round(Obvia.bind(IVictim.class, GOOD), 1);
        }
        try {
            IVictim hostile = Obvia.within(SHORT, () -> Obvia.bind(IVictim.class, words[0]));
            if (words.length > 2) {
                repeat(hostile, words[2]);
            } else {
                abuse(hostile);
            }
        } catch (RpcException e) {
            tell("connect", e);
        }
        round(Obvia.bind(IVictim.class, GOOD), 2);
        // A new thread uses a new connection.
        CompletableFuture<Void> done = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> done.completeAsync(() -> {
            round(Obvia.bind(IVictim.class, GOOD), 3);
            return null;
        }, Runnable::run));
        done.join();
    }

    private static void check(boolean isSo) {
        if (!isSo) {
            throw new AssertionError("a result is none that there can be");
        }
    }

    /** Calls the good server, and checks the results. */
    private static void round(IVictim good, int turn) {
        check(good.add(turn, 2) == turn + 2);
        check(good.sum(new int[] {turn, 1, 2, 3}) == turn + 6);
        int[] values = {1, 2, 3};
        good.reverse(values);
        check(Arrays.equals(values, new int[] {3, 2, 1}));
        check(good.shout("quiet").equals("QUIET"));
        check(good.weigh(new Mark[] {MARK, MARK, MARK}) == 120);
        IThing thing = good.make(turn);
        check(thing.number() == turn && Obvia.as(thing, IPair.class).second() == turn + 1);
        check(good.visit(thing) == turn);
        // The server calls back an object of this process.
        check(good.visit(new Things(turn + 5)) == turn + 5);
    }

    private static void tell(String what, RpcException why) {
        System.out.printf("%s 0x%08x%n", what, why.result());
    }

    private static void tell(String what, Supplier<Object> call) {
        try {
            Object value = Obvia.within(SHORT, call::get);
            System.out.println(what + " ok " + value);
        } catch (RpcException e) {
            tell(what, e);
        }
    }

    /** Calls every method. Results may have any values, and are read completely. */
    private static void abuse(IVictim hostile) {
        tell("Add", () -> hostile.add(1, 2));
        tell("Sum", () -> hostile.sum(new int[] {1, 2, 3}));
        tell("Reverse", () -> {
            int[] values = {1, 2, 3, 4};
            hostile.reverse(values);
            return Arrays.toString(values);
        });
        tell("Fill", () -> {
            int[] values = new int[64];
            hostile.fill(values);
            return values.length;
        });
        tell("Flip", () -> hostile.flip(true) ? 1 : 0);
        tell("Mix", () -> hostile.mix(Color.RED).value());
        tell("Shout", () -> hostile.shout("x").length());
        tell("Measure", () -> hostile.measure("wide"));
        tell("Weigh", () -> hostile.weigh(new Mark[] {MARK, MARK}));
        tell("Maybe", () -> hostile.maybe(MARK));
        tell("Visit", () -> hostile.visit(new Things(9)));
        tell("Make", () -> use(hostile.make(3)));
        tell("MakeAgain", () -> use(hostile.make(4)));
        tell("Marks", () -> {
            Mark[] marks = new Mark[8];
            Arrays.fill(marks, MARK);
            return "(" + hostile.marks(marks) + ", " + count(marks) + ")";
        });
        tell("All", () -> count(hostile.all()));
        // When the hostile server no longer takes these oneway calls, the window fills up, and a
        // call waits until its deadline. The loop then ends.
        long began = System.nanoTime();
        for (int code = 0; code < 20 && System.nanoTime() - began < SHORT.toNanos(); code++) {
            hint(hostile, code);
        }
        tell("Pair", () -> use(Obvia.as(hostile, IPair.class)));
    }

    /** Calls one method repeatedly for some time. */
    private static void repeat(IVictim hostile, String opnum) {
        long began = System.nanoTime();
        while (System.nanoTime() - began < 600_000_000) {
            try {
                if (opnum.equals("9")) {
                    check(hostile.shout("text").length() < 64);
                } else {
                    check(count(hostile.all()) <= 8);
                }
            } catch (RpcException e) {
                // The call may fail.
            }
        }
    }

    private static void hint(IVictim hostile, int code) {
        try {
            Obvia.within(SHORT, () -> {
                hostile.hint(code);
                return null;
            });
        } catch (RpcException e) {
            // The call may fail.
        }
    }

    private static long count(Mark[] marks) {
        return Arrays.stream(marks).filter(mark -> mark.set() && mark.color().value() > 0).count();
    }

    private static int use(IThing thing) {
        int number = thing.number();
        use(Obvia.as(thing, IPair.class));
        return number;
    }

    private static int use(IPair pair) {
        pair.swap(1, 2);
        String title = pair.title();
        pair.second();
        return title.length();
    }
}
