package obvia.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.RpcException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class SwapTest {
    private static final int READERS = 12;

    @Test
    void noRequestIsLostWhileHandlersAreReplaced() throws Exception {
        try (Site site = Site.of("/=obvia.web.Faulty:0");
                var readers = Executors.newVirtualThreadPerTaskExecutor()) {
            var sent = new AtomicInteger();
            var answered = new AtomicInteger();
            Set<String> answers = ConcurrentHashMap.newKeySet();
            var isOver = new AtomicInteger();
            List<Future<?>> running = new ArrayList<>();
            for (int reader = 0; reader < READERS; reader++) {
                int own = reader;
                running.add(readers.submit(() -> {
                    for (int turn = 0; isOver.get() == 0; turn++) {
                        sent.incrementAndGet();
                        var answer = site.get("/x/sleep/" + (own * 7 + turn * 3) % 40);
                        assertEquals(200, answer.statusCode(), answer.body());
                        answers.add(answer.body());
                        answered.incrementAndGet();
                    }
                    return null;
                }));
            }
            List<Long> processes = new ArrayList<>();
            for (int generation = 1; generation <= 6; generation++) {
                String former = "" + (generation - 1);
                Site.await("the one before has answered", () -> answers.contains(former) || running.stream().anyMatch(Future::isDone));
                processes.add(pid(site));
                String handler = "obvia.web.Faulty:" + generation;
                if (generation % 2 == 0) {
                    site.control.route("/", handler);
                } else {
                    site.control.replace("/", handler);
                }
                assertEquals("" + generation, site.get("/x").body(), "who asks now is answered by the new one");
            }
            Site.await("the last one has answered", () -> answers.contains("6") || running.stream().anyMatch(Future::isDone));
            isOver.set(1);
            for (Future<?> one : running) {
                one.get();
            }
            assertEquals(sent.get(), answered.get());
            assertEquals(Set.of("0", "1", "2", "3", "4", "5", "6"), answers);
            assertEquals(3, processes.stream().distinct().count(), "three processes were replaced by others");
            long last = pid(site);
            for (long process : processes) {
                assertTrue(process != last);
                ProcessHandle.of(process).ifPresent(handle -> handle.onExit().join());
            }
        }
    }

    private static long pid(Site site) {
        HandlerProcess process = site.routes.of("/").enter();
        process.leave();
        return process.pid();
    }

    @Test
    void aHandlerThatCannotStartReplacesNothing() throws Exception {
        try (Site site = Site.of("/=obvia.web.Faulty")) {
            for (Runnable change : List.<Runnable>of(() -> site.control.route("/", "nothing"), () -> site.control.replace("/", "nothing"),
                    () -> site.control.replace("/b", "echo"), () -> site.control.route("no path", "echo"))) {
                assertThrows(RpcException.class, change::run);
                assertEquals("fine", site.get("/").body());
            }
            assertEquals(1, site.routes.all().size());
            site.control.route("/b", "echo");
            assertEquals("GET /b\n", site.get("/b").body().lines().findFirst().orElse("") + "\n");
        }
    }
}
