import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.logging.Level;
import org.jinterop.dcom.common.JIException;
import org.jinterop.dcom.common.JISystem;

/**
 * j-interop judges interop-script: a client of DCOM and Automation that others wrote.
 *
 * <p>{@code Judge HOST USER PASSWORD LEVEL values|held|called|long COMMAND ...} starts the server with the command, which says its bindings and then, for each
 * line that it is sent, how many objects there are. It checks values, errors and objects, or how long objects are held; {@code long} takes ten minutes.
 */
public final class Judge {
    /** What one check does. */
    interface Check {
        void run() throws Exception;
    }

    private static final List<String> failed = new ArrayList<>();

    private Judge() {}

    public static void main(String[] arguments) throws Exception {
        // It logs to a file of the machine's, and to the error output, whatever happens.
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
                default -> throw new IllegalArgumentException(arguments[4]);
            }
        } catch (Exception error) {
            error.printStackTrace();
            failed.add("the end");
        }
        // The library's timers go on for ever otherwise.
        System.exit(failed.isEmpty() ? 0 : 1);
    }

    /** Runs a check, and says what came of it. */
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

    /** What the library says of a failure. */
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
