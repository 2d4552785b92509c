package obvia.web;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import obvia.Export;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;

/** The process of a handler: exports it, puts another in its place when it is told to, and ends when its standard input does. */
final class Host implements IHost {
    /** What it prints when it can be called. */
    static final String READY = "ready";

    private final Export export;
    private volatile Held current;

    private Host(String name, String spec) {
        current = new Held(Handlers.make(spec));
        export = Obvia.export(current, IHandler.class, name);
    }

    /** The name by which the process itself is exported that exports a handler by another. */
    static String nameOf(String handler) {
        return handler + ".host";
    }

    /** A handler, which may be replaced: it is closed when the requests that it has are answered. */
    private final class Held implements IHandler {
        private final IHandler handler;
        private final Uses uses = new Uses(this::close);

        Held(IHandler handler) {
            this.handler = handler;
        }

        @Override
        public Response handle(Request request) {
            Held held = this;
            // A call may have been on its way here when another handler came.
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
        // What handlers print does not wait for somebody to read it there.
        System.setOut(System.err);
        // Nothing is said there.
        System.in.transferTo(OutputStream.nullOutputStream());
        if (samples != null) {
            samples.close();
        }
    }
}
