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

/**
 * A process with a handler. The process is ended when its {@link Route} has dropped it and all its
 * requests are answered.
 */
final class HandlerProcess {
    private static final AtomicInteger NEXT = new AtomicInteger(1);
    /** The time within which a process has to end on request. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final int number = NEXT.getAndIncrement();
    private final Instant since = Instant.now();
    private final Process process;
    private final Uses uses = new Uses(() -> Thread.ofVirtual().name("web-end").start(this::end));
    private IHandler handler;
    private IHost host;

    /**
     * The parameters of new processes.
     *
     * @param options the options of the virtual machine
     * @param patience the time within which a process has to be ready for calls
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

    /** Calls {@code told} when the process has ended for any reason. */
    void onExit(Consumer<HandlerProcess> told) {
        process.onExit().thenRun(() -> told.accept(this));
    }

    /**
     * Begins a use of the process, unless it is ending. If this returns true, {@link #leave} has to
     * follow.
     */
    boolean enter() {
        return uses.enter();
    }

    /** Ends a use by a request or by the route. */
    void leave() {
        uses.leave();
    }

    /** Returns the number of requests in progress. */
    int requests() {
        return Math.max(uses.count() - 1, 0);
    }

    /** Returns the time at which the process was started. */
    Instant since() {
        return since;
    }

    /** Returns the handler in the process. */
    IHandler handler() {
        return handler;
    }

    /** Returns the administration object in the process. */
    IHost host() {
        return host;
    }

    /** Waits until the process has ended. Returns false if it has not ended in time. */
    boolean awaitExit(Duration patience) throws InterruptedException {
        return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** Returns the process ID. */
    long pid() {
        return process.pid();
    }

    /**
     * Ends the process by closing its standard input. A process that does not end in time is
     * killed.
     */
    private void end() {
        try {
            process.getOutputStream().close();
            if (process.waitFor(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                Log.say("%s: is done, and has ended", this);
                return;
            }
        } catch (IOException | InterruptedException e) {
            // The process is killed below.
        }
        process.destroyForcibly();
        Log.say("%s: is done, and was made to end", this);
    }

    @Override
    public String toString() {
        return "handler " + number + (process == null ? "" : " (process " + process.pid() + ")");
    }
}
