package obvia.web;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import obvia.Export;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;

/**
 * The process of a handler. It exports the handler, replaces the handler on request, and ends when
 * standard input is closed.
 */
final class Host implements IHost {
    /** The line that the process prints when it can be called. */
    static final String READY = "ready";

    private final Export export;
    private volatile Held current;

    private Host(String name, String spec) {
        current = new Held(Handlers.make(spec));
        export = Obvia.export(current, IHandler.class, name);
    }

    /** Returns the name under which the process of a handler exports its administration object. */
    static String nameOf(String handler) {
        return handler + ".host";
    }

    /** A handler. Once another handler replaces it and its requests are answered, it is closed. */
    private final class Held implements IHandler {
        private final IHandler handler;
        private final Uses uses = new Uses(this::close);

        Held(IHandler handler) {
            this.handler = handler;
        }

        @Override
        public Response handle(Request request) {
            Held held = this;
            // Another handler may have been installed while the call was in transit.
            while (!held.uses.enter()) {
                held = current;
            }
            try {
                return held.handler.handle(request);
            } finally {
                held.uses.leave();
            }
        }

        private void close() {
            if (handler instanceof AutoCloseable closeable) {
                try {
                    closeable.close();
                } catch (Exception e) {
                    Log.say("a handler that was replaced cannot be closed: %s", e);
                }
            }
        }
    }

    @Override
    public synchronized void replace(String spec) {
        Held old = current;
        try {
            current = new Held(Handlers.make(spec));
        } catch (IllegalArgumentException e) {
            throw new RpcException(Hresult.E_INVALIDARG, e.getMessage(), e);
        }
        export.replace(current);
        old.uses.leave();
    }

    /** The program. */
    static void run(String name, String spec) throws IOException {
        String file = System.getProperty("web.samples");
        Samples samples = file == null ? null : new Samples(Path.of(file));
        Obvia.export(new Host(name, spec), IHost.class, nameOf(name));
        System.out.println(READY);
        // The output of handlers must not block on the pipe to the parent process.
        System.setOut(System.err);
        // The parent sends nothing: the end of the input ends the process.
        System.in.transferTo(OutputStream.nullOutputStream());
        if (samples != null) {
            samples.close();
        }
    }
}
