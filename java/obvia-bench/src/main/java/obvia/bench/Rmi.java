package obvia.bench;

import java.io.IOException;
import java.lang.ref.Reference;
import java.net.ServerSocket;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.rmi.registry.LocateRegistry;
import java.rmi.registry.Registry;
import java.rmi.server.UnicastRemoteObject;
import java.util.concurrent.atomic.LongAdder;

/** The calls of {@link Calls} by Java's RMI, over TCP on the loopback device, for comparison. */
final class Rmi {
    private static final String NAME = "bench";

    private Rmi() {}

    /** The interface that is called. */
    public interface Bench extends Remote {
        void nothing() throws RemoteException;

        int pfsOpen(int client, int fobj, int flags, int mode) throws RemoteException;

        int[] moveData(int[] data) throws RemoteException;

        void visit(Bench visitor) throws RemoteException;

        long calls() throws RemoteException;
    }

    private static final class Object implements Bench {
        private final LongAdder calls = new LongAdder();

        @Override
        public void nothing() {
            calls.increment();
        }

        @Override
        public int pfsOpen(int client, int fobj, int flags, int mode) {
            return client + fobj + flags + mode;
        }

        @Override
        public int[] moveData(int[] data) {
            if (data.length > 0) {
                data[0]++;
            }
            return data;
        }

        @Override
        public void visit(Bench visitor) {
            if (visitor == null) {
                throw new NullPointerException();
            }
            calls.increment();
        }

        @Override
        public long calls() {
            return calls.sum();
        }
    }

    // The references keep the objects exported.
    private static Object served;
    private static Registry registry;

    /** Serves on a free port, and prints the port. */
    static void serve() throws Exception {
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        int port = freePort();
        registry = LocateRegistry.createRegistry(port);
        served = new Object();
        registry.rebind(NAME, UnicastRemoteObject.exportObject(served, 0));
        System.out.println("ready " + port);
    }

    private static Bench export(Object object) {
        try {
            return (Bench) UnicastRemoteObject.exportObject(object, 0);
        } catch (RemoteException e) {
            throw new IllegalStateException("exporting an object by RMI", e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            return free.getLocalPort();
        }
    }

    static Calls.Case find(String port, String method, int bytes) {
        Bench object;
        try {
            object = (Bench) LocateRegistry.getRegistry("127.0.0.1", Integer.parseInt(port)).lookup(NAME);
        } catch (Exception e) {
            throw new IllegalStateException("looking up the object of RMI", e);
        }
        return switch (method) {
            case "null" -> new Calls.Counted(object::nothing, object::calls);
            case "visit" -> {
                // The measuring code refers to the visitor, so that the visitor stays exported.
                Object visitor = new Object();
                Bench exported = export(visitor);
                yield new Calls.Counted(() -> {
                    object.visit(exported);
                    Reference.reachabilityFence(visitor);
                }, object::calls);
            }
            case "pfs_open" -> new Calls.Case() {
                private int handles;

                @Override
                public void call() throws RemoteException {
                    handles++;
                    Calls.expect("the handle", handles + 8, object.pfsOpen(1, handles, 3, 4));
                }

                @Override
                public void verify(int calls) {}
            };
            case "MoveData" -> new Calls.Payload(bytes) {
                @Override
                public void call() throws RemoteException {
                    int[] back = object.moveData(words);
                    System.arraycopy(back, 0, words, 0, back.length);
                }
            };
            default -> throw new IllegalArgumentException("there is no method " + method);
        };
    }
}
