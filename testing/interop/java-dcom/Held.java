import java.util.TimerTask;
import org.jinterop.dcom.core.IJIComObject;
import org.jinterop.dcom.core.JISession;
import org.jinterop.dcom.impls.automation.IJIDispatch;

/**
 * Tests of the lifetime of objects. An object lives while this client pings or calls it, and for a
 * limited time after that.
 */
final class Held {
    /**
     * The time for which a test keeps an object by pings alone, or by calls alone. The time is
     * longer than the server keeps an object without pings and calls.
     */
    private static final long HELD_SECONDS = 12;

    /**
     * The same time with the server's default ping period of two minutes. Objects then last for
     * three periods without a ping.
     */
    private static final long LONG_SECONDS = 8 * 60;

    /**
     * The time after the last call for which an object still exists with the default ping period.
     * It is less than three periods, after which objects are gone (MS-DCOM 3.1.2.2).
     */
    private static final long STILL_SECONDS = 5 * 60;

    /** The time after {@link #STILL_SECONDS} within which the object must be gone. */
    private static final long GONE_SECONDS = 4 * 60;

    private final Client client;
    private final Server server;

    Held(Client client, Server server) {
        this.client = client;
        this.server = server;
    }

    void run() {
        runCalled();
        Suite.check("held by the library's own pings, gone without", () -> {
            made(client.session());
            var ping = ping();
            during(HELD_SECONDS, ping::run);
            Suite.same(1, server.live());
            server.becomes(0);
        });
        Suite.check("gone after the end of a session", () -> {
            var session = client.session();
            made(session);
            JISession.destroySession(session);
            var ping = ping();
            ping.run();
            server.becomes(0);
        });
    }

    void runCalled() {
        Suite.check("held by calls, gone without", () -> {
            var object = made(client.session());
            during(HELD_SECONDS, () -> object.get("Title"));
            Suite.same(1, server.live());
            server.becomes(0);
        });
    }

    void runLong() {
        Suite.check("held for eight minutes by the library's pings alone", () -> {
            var object = made(client.session());
            during(LONG_SECONDS, () -> Suite.same(1, server.live()));
            object.get("Title");
        });
    }

    void runLongCalled() {
        Suite.check("held for eight minutes by calls alone, gone after six minutes without", () -> {
            var object = made(client.session());
            during(LONG_SECONDS, () -> object.get("Title"));
            during(STILL_SECONDS, () -> Suite.same(1, server.live()));
            server.becomes(0, GONE_SECONDS);
        });
    }

    private IJIDispatch made(JISession session) throws Exception {
        IJIComObject object = client.make(session);
        return Client.dispatch(object);
    }

    /** Runs a check every 100 milliseconds, for some seconds. */
    private static void during(long seconds, Suite.Check check) throws Exception {
        var end = System.nanoTime() + seconds * 1_000_000_000;
        while (System.nanoTime() < end) {
            check.run();
            Thread.sleep(100);
        }
    }

    /** Returns the library's ping task, whose fixed period is four minutes. */
    private static TimerTask ping() throws ReflectiveOperationException {
        var task = Class.forName("org.jinterop.dcom.core.JIComOxidRuntime$ClientPingTimerTask").getDeclaredConstructor();
        task.setAccessible(true);
        return (TimerTask) task.newInstance();
    }
}
