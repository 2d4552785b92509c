import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.logging.Level;
import org.jinterop.dcom.common.JIException;
import org.jinterop.dcom.common.JISystem;

/**
 * Tests of interop-script with j-interop, a client of DCOM and Automation.
 *
 * <p>{@code Suite HOST USER PASSWORD LEVEL values|held|called|long COMMAND ...} starts the server
 * with the command. The server prints its bindings, and the number of objects for each line that
 * it reads. The program checks values, errors and objects, or the lifetime of objects; {@code
 * long} takes ten minutes.
 */
public final class Suite {
    /** The body of a check. */
    interface Check {
        void run() throws Exception;
    }

    private static final List<String> failed = new ArrayList<>();

    private Suite() {}

    public static void main(String[] arguments) throws Exception {
        // The library would log to a file of the machine, and to the error output.
        JISystem.getLogger().setLevel(Level.OFF);
        JISystem.setAutoRegisteration(false);
        var command = List.of(arguments).subList(5, arguments.length);
        try (var server = new Server(command)) {
            var client = new Client(arguments[0], arguments[1], arguments[2], arguments[3]);
            switch (arguments[4]) {
                case "values" -> new Values(client, server).run();
                case "held" -> new Held(client, server).run();
                case "called" -> new Held(client, server).runCalled();
                case "long" -> new Held(client, server).runLong();
                case "long-called" -> new Held(client, server).runLongCalled();
                default -> throw new IllegalArgumentException(arguments[4]);
            }
        } catch (Exception error) {
            error.printStackTrace();
            failed.add("the end");
        }
        // The library's timers would keep the process alive.
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    /** Runs a check, and reports the outcome. */
    static void check(String name, Check check) {
        try {
            check.run();
            System.out.println("ok " + name);
        } catch (Exception | Error error) {
            failed.add(name);
            System.out.println("FAILED " + name);
            error.printStackTrace(System.out);
        }
    }

    static void same(Object expected, Object actual) {
        if (!Objects.deepEquals(expected, actual)) {
            throw new AssertionError("expected " + text(expected) + ", not " + text(actual));
        }
    }

    private static String text(Object value) {
        return value instanceof Object[] array ? java.util.Arrays.deepToString(array) : String.valueOf(value);
    }

    /** Returns the library's exception of a failure. */
    static JIException fails(int code, Check check) throws Exception {
        try {
            check.run();
        } catch (JIException error) {
            if (error.getErrorCode() != code) {
                throw new AssertionError("expected " + Integer.toHexString(code) + ", not " + Integer.toHexString(error.getErrorCode()), error);
            }
            return error;
        }
        throw new AssertionError("it does not fail");
    }
}
