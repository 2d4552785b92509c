package obvia.processor.calls;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.concurrent.atomic.AtomicInteger;
import obvia.Obvia;

/** Another virtual machine, which exports a {@link Subject} and a {@link FormsSubject}. */
final class Peer implements AutoCloseable {
    private static final AtomicInteger NEXT = new AtomicInteger();

    final String name = "calc-" + ProcessHandle.current().pid() + "-" + NEXT.incrementAndGet();
    private final Process process;

    Peer() throws IOException {
        String java = ProcessHandle.current().info().command().orElse("java");
        process = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Program.class.getName(), name)
                .redirectError(Redirect.DISCARD)
                .start();
        String first = process.inputReader().readLine();
        if (!"ready".equals(first)) {
            throw new IOException("a peer says " + first);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
    }

    /** The program of the other virtual machine. */
    static final class Program {
        public static void main(String[] arguments) throws IOException {
            Obvia.setExceptionTexts(true);
            Obvia.export(new Subject(), Account.class, arguments[0]);
            Obvia.export(new FormsSubject(), Forms.class, arguments[0] + "-forms");
            System.out.println("ready");
            // Standard input ends with the parent process.
            System.in.readAllBytes();
            Runtime.getRuntime().halt(0);
        }
    }
}
