package obvia.web;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import obvia.Obvia;
import obvia.RpcException;

/** A process that has a handler. It is ended when its {@link Route} has given it up and every request that it has is answered. */
final class HandlerProcess {
    private static final AtomicInteger NEXT = new AtomicInteger(1);
    /** How long one that is told to end may take. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final int number = NEXT.getAndIncrement();
    private final Instant since = Instant.now();
    private final Process process;
    private final Uses uses = new Uses(() -> Thread.ofVirtual().name("web-end").start(this::end));
    private IHandler handler;
    private IHost host;

    /**
     * How processes are started.
     *
     * @param options those of the virtual machine
     * @param patience how long one may take until it can be called
     */
    record Launcher(List<String> options, Duration patience) {
        /** Starts a process, and waits until it can be called. */
        HandlerProcess launch(String handler) throws IOException {
            return new HandlerProcess(this, handler);
        }
    }

    private HandlerProcess(Launcher launcher, String spec) throws IOException {
        String name = "web-" + ProcessHandle.current().pid() + "-" + number;
        List<String> words = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java")));
        words.addAll(launcher.options);
        words.addAll(List.of("-cp", System.getProperty("java.class.path"), Web.class.getName(), "handler", name, spec));
        process = new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            awaitReady(launcher.patience);
            handler = Obvia.bind(IHandler.class, name);
            host = Obvia.bind(IHost.class, Host.nameOf(name));
        } catch (IOException | RpcException e) {
            process.destroyForcibly();
            throw new IOException(this + ": " + e.getMessage(), e);
        }
    }

    private void awaitReady(Duration patience) throws IOException {
        var line = new CompletableFuture<String>();
        Thread.ofPlatform().daemon().name("web-ready").start(() -> {
            try {
                line.complete(process.inputReader().readLine());
            } catch (IOException e) {
                line.completeExceptionally(e);
            }
        });
        try {
            if (!Host.READY.equals(line.get(patience.toMillis(), TimeUnit.MILLISECONDS))) {
                throw new IOException("it ended before it could be called");
            }
        } catch (TimeoutException e) {
            throw new IOException("it could not be called after " + patience.toSeconds() + " s", e);
        } catch (ExecutionException e) {
            throw new IOException("what it says cannot be read", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** Has somebody told when it has ended, whyever. */
    void onExit(Consumer<HandlerProcess> told) {
        process.onExit().thenRun(() -> told.accept(this));
    }

    /** Whether it can be used: then {@link #leave} has to follow. */
    boolean enter() {
        return uses.enter();
    }

    /** A request, or the route, is done with it. */
    void leave() {
        uses.leave();
    }

    /** How many requests it has. */
    int requests() {
        return Math.max(uses.count() - 1, 0);
    }

    /** When it was started. */
    Instant since() {
        return since;
    }

    /** What answers requests there. */
    IHandler handler() {
        return handler;
    }

    /** What looks after it there. */
    IHost host() {
        return host;
    }

    /** Waits until it has ended, and says whether it has. */
    boolean awaitExit(Duration patience) throws InterruptedException {
        return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Its number in the system. */
    long pid() {
        return process.pid();
    }

    /** One whose standard input ends is to end. */
    private void end() {
        try {
            process.getOutputStream().close();
            if (process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                Log.say("%s: is done, and has ended", this);
                return;
            }
        } catch (IOException | InterruptedException e) {
            // It is ended in another way.
        }
        process.destroyForcibly();
        Log.say("%s: is done, and was made to end", this);
    }

    @Override
    public String toString() {
        return "handler " + number + (process == null ? "" : " (process " + process.pid() + ")");
    }
}
