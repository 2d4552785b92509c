package obvia.rmi;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ProcessBuilder.Redirect;
import java.rmi.AlreadyBoundException;
import java.rmi.NoSuchObjectException;
import java.rmi.NotBoundException;
import java.rmi.Remote;
import java.rmi.RemoteException;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import obvia.Endpoint;
import obvia.Obvia;
import obvia.rmi.bank.Account;
import obvia.rmi.bank.Bank;
import obvia.rmi.bank.BankServer;
import obvia.rmi.bank.Entry;
import obvia.rmi.bank.Entry.Kind;
import obvia.rmi.bank.OverdrawnException;
import obvia.rmi.bank.Watcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that one interface and one implementation work by RMI and by obvia. */
@Timeout(120)
class BothWaysTest {
    private static final long PATIENCE = 60;

    /**
     * A server in another virtual machine, and the line that the server prints when it is ready.
     */
    private record Server(Process process, String said) implements AutoCloseable {
        static Server start(String... arguments) throws Exception {
            String java = ProcessHandle.current().info().command().orElse("java");
            var command = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), BankProgram.class.getName());
            command.command().addAll(List.of(arguments));
            Process process = command.redirectError(Redirect.INHERIT).start();
            String said = process.inputReader().readLine();
            assertTrue(said != null && said.startsWith("ready"), said);
            return new Server(process, said);
        }

        void kill() {
            process.destroyForcibly().onExit().join();
        }

        @Override
        public void close() {
            kill();
        }
    }

    private static void use(Bank bank, BankServer.Exporter exporter) throws Exception {
        assertEquals(0, bank.balance("ann"));
        bank.deposit("ann", 30);
        bank.withdraw("ann", 10);
        assertEquals(20, bank.balance("ann"));
        assertThrows(OverdrawnException.class, () -> bank.withdraw("ann", 21));
        Account account = bank.open("bob");
        assertEquals("bob", account.name());
        assertEquals(0, account.balance());
        BlockingQueue<String> seen = new LinkedBlockingQueue<>();
        Watcher watcher = (name, balance) -> seen.add(name + " " + balance);
        bank.watch((Watcher) exporter.export(watcher));
        bank.deposit("bob", 5);
        assertEquals("bob 5", seen.poll(PATIENCE, TimeUnit.SECONDS));
        assertEquals(5, account.balance());
        assertArrayEquals(new String[] {"ann", "bob"}, bank.accounts());
        assertEquals(List.of(new Entry("ann", 30, Kind.IN), new Entry("ann", 10, Kind.OUT)), bank.history("ann"));
        assertEquals(List.of(), bank.history("nobody"));
        assertEquals(5, bank.book(new Entry[] {new Entry("ann", 7, Kind.OUT), new Entry("bob", 1, Kind.IN)}));
        assertEquals(13, bank.balance("ann"));
        assertEquals("ann 13", seen.poll(PATIENCE, TimeUnit.SECONDS));
        assertEquals("bob 6", seen.poll(PATIENCE, TimeUnit.SECONDS));
        bank.watch(null);
    }

    @Test
    void theBankWorksOverRmi() throws Exception {
        try (Server server = Server.start("rmi")) {
            int port = Integer.parseInt(server.said.split(" ")[1]);
            var bank = (Bank) java.rmi.Naming.lookup("//localhost:" + port + "/bank");
            BankServer.Exporter exporter = object -> java.rmi.server.UnicastRemoteObject.exportObject(object, 0);
            use(bank, exporter);
            server.kill();
            assertThrows(RemoteException.class, () -> bank.balance("ann"));
        }
    }

    @Test
    void aReboundNameIsAlwaysBound() throws Exception {
        String name = "rebound-" + ProcessHandle.current().pid();
        Registry registry = LocateRegistry.getRegistry();
        registry.rebind(name, new BankServer(object -> object));
        var isDone = new AtomicBoolean();
        var rebinding = CompletableFuture.runAsync(() -> {
            try {
                while (!isDone.get()) {
                    registry.rebind(name, new BankServer(object -> object));
                }
            } catch (RemoteException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        try (Endpoint others = Obvia.loopback()) {
            for (int turn = 0; turn < 100; turn++) {
                assertEquals(0, others.bind(Bank.class, name).balance("ann"));
            }
        } finally {
            isDone.set(true);
        }
        rebinding.get(PATIENCE, TimeUnit.SECONDS);
        registry.unbind(name);
    }

    @Test
    void theBankWorksOverObvia() throws Exception {
        String name = "bank-" + ProcessHandle.current().pid();
        try (Server server = Server.start("obvia", name)) {
            Bank bank = Naming.lookup(Bank.class, "//localhost/" + name);
            use(bank, object -> UnicastRemoteObject.exportObject(object, 0));
            server.kill();
            assertThrows(RemoteException.class, () -> bank.balance("ann"));
        }
    }

    @Test
    void theBankWorksOverANetwork() throws Exception {
        String name = "network-bank-" + ProcessHandle.current().pid();
        try (Server server = Server.start("obvia", name, "ncacn_vi_udp:127.0.0.1")) {
            Bank bank = Obvia.connect(server.said.split(" ")[1]).bind(Bank.class, name);
            use(bank, object -> UnicastRemoteObject.exportObject(object, 0));
        }
    }

    @Test
    void theRegistryBehavesAsInRmi() throws Exception {
        String name = "names-" + ProcessHandle.current().pid();
        Remote one = new BankServer(object -> object);
        Registry registry = LocateRegistry.createRegistry(2001);
        assertThrows(NotBoundException.class, () -> registry.lookup(Bank.class, name));
        registry.bind(name, one);
        assertEquals(one, registry.lookup(Bank.class, name));
        assertThrows(AlreadyBoundException.class, () -> registry.bind(name, one));
        assertThrows(NotBoundException.class, () -> Naming.lookup(Bank.class, "rmi://localhost:1099/" + name), "another registry's");
        assertEquals(one, Naming.lookup(Bank.class, "//localhost:2001/" + name));
        Remote other = new BankServer(object -> object);
        Naming.rebind("//:2001/" + name, other);
        assertEquals(other, registry.lookup(Bank.class, name));
        assertArrayEquals(new String[] {name}, registry.list());
        assertEquals(0, LocateRegistry.getRegistry().list().length);
        registry.unbind(name);
        assertThrows(NotBoundException.class, () -> registry.unbind(name));
        registry.bind(name, one);
        UnicastRemoteObject.unexportObject(one, true);
        assertThrows(NotBoundException.class, () -> registry.lookup(Bank.class, name));
        assertThrows(NoSuchObjectException.class, () -> UnicastRemoteObject.unexportObject(one, true));
        assertThrows(RemoteException.class, () -> Naming.lookup(Bank.class, "//elsewhere.example/" + name));
        assertThrows(java.net.MalformedURLException.class, () -> Naming.lookup(Bank.class, "http://localhost/" + name));
        assertThrows(RemoteException.class, () -> registry.bind(name, new Remote() {}), "no interface");
    }
}
