package interop;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.Callable;
import objects.ICounter;
import objects.INamed;
import obvia.Credentials;
import obvia.Endpoint;
import obvia.Guid;
import obvia.Hresult;
import obvia.Obvia;
import obvia.RpcException;
import obvia.SecurityLevel;

/**
 * {@code interop-objects} in Java.
 *
 * <ul>
 *  <li>{@code [--user NAME PASSWORD] [--tell] [--pinging MILLISECONDS] BINDING ...} serves until
 *      its input ends, and prints the number of objects for each line of input; with {@code --tell}
 *      the name of an object is the name of its caller
 *  <li>{@code --idle MILLISECONDS} serves until it was unused for this time
 *  <li>{@code --client [--user NAME PASSWORD] [BINDING ...]} creates an object on this host, or at
 *      the binding, and calls it
 *  <li>{@code --marshal BINDING ...} listens, and prints two marshaled references; {@code
 *      --unmarshal BYTES ...} calls the objects of such references
 * </ul>
 */
final class Objects {
    private static final Guid CLASS = Guid.of("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b01");
    /**
     * The class whose objects refuse calls from other hosts, and the class that refuses
     * activation.
     */
    private static final Guid CLOSED = Guid.of("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b02");

    private static final Guid FORBIDDEN = Guid.of("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2b03");
    private static final Guid UNKNOWN_CLASS = Guid.of("5b0e6b3c-0d5e-4c5a-9f3e-6f1d0c7a2bff");

    private final Deque<String> words;

    private Objects(String[] words) {
        this.words = new ArrayDeque<>(Arrays.asList(words));
    }

    public static void main(String[] words) throws Exception {
        new Objects(words).run();
        System.exit(0);
    }

    private boolean isNext(String word) {
        return word.equals(words.peek()) && words.remove() != null;
    }

    private void run() throws Exception {
        if (isNext("--client")) {
            client();
        } else if (isNext("--idle")) {
            Duration idle = Duration.ofMillis(Long.parseLong(words.remove()));
            Obvia.registerClass(CLASS, ICounter.class, Counter::new);
            Obvia.serveUntilIdle(idle);
        } else if (isNext("--marshal")) {
            marshal();
        } else if (isNext("--unmarshal")) {
            unmarshal();
        } else {
            serve();
        }
    }

    private void marshal() throws Exception {
        words.forEach(Obvia::listen);
        for (int i = 0; i < 2; i++) {
            System.out.println(HexFormat.of().formatHex(Obvia.marshal(new Counter(), ICounter.class)));
        }
        System.in.readAllBytes();
    }

    private void unmarshal() throws Exception {
        for (String digits : words) {
            byte[] reference = HexFormat.of().parseHex(digits);
            call(Obvia.unmarshal(reference, ICounter.class));
            fails(Hresult.CO_E_OBJNOTCONNECTED, () -> Obvia.unmarshal(reference, ICounter.class));
        }
        Counter own = new Counter();
        byte[] spent = Obvia.marshal(own, ICounter.class);
        if (Obvia.unmarshal(spent, ICounter.class) != own) {
            throw new AssertionError("an object comes home as itself");
        }
        byte[] released = Obvia.marshal(own, ICounter.class);
        Obvia.releaseMarshalData(released);
        fails(Hresult.CO_E_OBJNOTCONNECTED, () -> Obvia.unmarshal(released, ICounter.class));
        fails(Hresult.RPC_E_INVALID_OBJREF, () -> Obvia.unmarshal(new byte[] {1, 2, 3}, ICounter.class));
    }

    /** Sets the credentials of calls, and the only account of the server. */
    private static Credentials become(String user, String password) {
        Credentials credentials = new Credentials("", user, password);
        Obvia.setAccounts(Map.of(user, password));
        Obvia.setCredentials(credentials);
        return credentials;
    }

    private void serve() throws Exception {
        if (isNext("--user")) {
            become(words.remove(), words.remove());
        }
        Counter.tellsCaller = isNext("--tell");
        if (isNext("--pinging")) {
            Obvia.setPinging(Duration.ofMillis(Long.parseLong(words.remove())), 3);
        }
        Counter counters = new Counter();
        Obvia.setClassAccess(CLASS, caller -> (caller.user() == null) == (caller.level() == SecurityLevel.NONE));
        Obvia.setClassAccess(FORBIDDEN, _ -> false);
        try (var _ = Obvia.registerClass(CLASS, ICounter.class, Counter::new, counters);
                var _ = Obvia.registerClass(CLOSED, ICounter.class, Objects::closed);
                var _ = Obvia.registerClass(FORBIDDEN, ICounter.class, Counter::new)) {
            for (String binding : words) {
                System.out.println(Obvia.listen(binding));
            }
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
            while (input.readLine() != null) {
                System.out.println(Counter.living());
            }
        }
        if (counters.add(1) <= 0) {
            throw new AssertionError("it is there as long as this is");
        }
    }

    private static Counter closed() {
        Counter counter = new Counter();
        Obvia.setAccess(counter, caller -> caller.host() == null);
        return counter;
    }

    private void client() throws Exception {
        String[] user = isNext("--user") ? new String[] {words.remove(), words.remove()} : null;
        if (words.isEmpty()) {
            client(Obvia.connect());
        }
        for (String binding : words) {
            if (binding.contains("security=")) {
                fails(Hresult.E_ACCESSDENIED, () -> Obvia.connect(binding).createInstance(CLASS, ICounter.class));
            }
        }
        Credentials own = user == null ? null : become(user[0], user[1]);
        for (String binding : words) {
            Endpoint server = Obvia.connect(binding, binding.contains("security=") ? own : null);
            client(server);
            ICounter closed = server.createInstance(CLOSED, ICounter.class);
            fails(Hresult.E_ACCESSDENIED, () -> closed.add(1));
            fails(Hresult.E_ACCESSDENIED, () -> server.createInstance(FORBIDDEN, ICounter.class));
        }
    }

    private static void client(Endpoint server) throws Exception {
        call(server.createInstance(CLASS, ICounter.class));
        try {
            call(server.classObject(CLASS, ICounter.class));
        } catch (RpcException e) {
            // A server that was started on demand has no class object.
            expect(e, Hresult.E_NOINTERFACE);
        }
        fails(Hresult.REGDB_E_CLASSNOTREG, () -> server.createInstance(UNKNOWN_CLASS, ICounter.class));
    }

    private static void fails(int result, Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (RpcException e) {
            expect(e, result);
            return;
        }
        throw new AssertionError("it went well");
    }

    private static void expect(RpcException found, int result) {
        if (found.result() != result) {
            throw found;
        }
    }

    private static void call(ICounter counter) {
        int before = counter.add(1);
        int sum = counter.add(41);
        if (sum != before + 41 || counter.mixed((byte) 1, 1L << 40, "four") != (1L << 40) + 5 || counter.make().add(7) != 7) {
            throw new AssertionError("it counts wrong");
        }
        if (counter.addTo(new Counter(), 3) != 3) {
            throw new AssertionError("it does not call this process's counter");
        }
        System.out.println(Obvia.as(counter, INamed.class).name());
    }
}
