package obvia.runtime.objects;

import static java.util.Objects.requireNonNull;

import java.lang.ref.WeakReference;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.ClassRegistration;
import obvia.Connections;
import obvia.Credentials;
import obvia.Endpoint;
import obvia.Export;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.SharedMemory;
import obvia.Threading;
import obvia.Trace;
import obvia.Waiting;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;
import obvia.runtime.Proxy;
import obvia.runtime.Reference;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.ErrorInfo;
import obvia.runtime.call.LimitedLog;
import obvia.runtime.shm.Acceptor;
import obvia.runtime.shm.Directory;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.RepeatedTask;
import obvia.runtime.shm.Window;

/** The runtime of this process: its OXID, its exports, and its connections to other processes. */
public final class ProcessRuntime implements obvia.ObviaRuntime {
    private static final LimitedLog GREETINGS = new LimitedLog();

    /** The time limit of a client's greeting, which occupies a thread. */
    private static final Duration GREETING = Duration.ofSeconds(10);

    private final long oxid = draw();
    private final Exports exports = new Exports();
    private final Map<String, Named> names = new ConcurrentHashMap<>();
    private final Map<Long, Link> links = new ConcurrentHashMap<>();
    private final Map<Long, Client> clients = new ConcurrentHashMap<>();
    private final Map<Long, Long> marks = new ConcurrentHashMap<>();
    private final Rules rules;
    private final Networks networks;
    private final Classes classes;
    private final Semaphore janitorsBell = new Semaphore(0);
    private Directory.Name ownEndpoint;
    private volatile Thread janitor;
    private volatile Waiting waiting = Waiting.ADAPTIVE;
    /**
     * The runtime that represents this process as a client of itself, created on the first
     * loopback.
     */
    private ProcessRuntime outside;

    /** For {@link java.util.ServiceLoader}. */
    public ProcessRuntime() {
        this(new Rules());
    }

    // The thread of the object is not started before the constructor returns.
    @SuppressWarnings("this-escape")
    private ProcessRuntime(Rules rules) {
        this.rules = rules;
        networks = new Networks(rules);
        classes = new Classes(this, networks);
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new UnsupportedOperationException("obvia supports little-endian machines only");
        }
    }

    /**
     * A connected client: its process ID, the number of its connections, and the references to be
     * given back to it.
     */
    private record Client(long pid, int count, ReferencesToReturn toReturn) {
        Client counted(int more) {
            return new Client(pid, count + more, toReturn);
        }
    }

    /** An export. */
    record Named(Object object, InterfaceInfo<?> info, boolean isVirtual) {
        /**
         * Returns the interface as implemented by another object, whose class loader may be another
         * one.
         */
        private InterfaceInfo<?> infoFor(Object other) {
            return Interfaces.find(info.iid(), other);
        }
    }

    private static long draw() {
        long drawn;
        do {
            drawn = new SecureRandom().nextLong();
        } while (drawn == 0);
        return drawn;
    }

    long oxid() {
        return oxid;
    }

    Exports exports() {
        return exports;
    }

    Rules rules() {
        return rules;
    }

    Classes classes() {
        return classes;
    }

    Waiting waiting() {
        return waiting;
    }

    @Override
    public SharedMemory share(long bytes, SharedMemory.Access access) {
        return OwnRegion.make(bytes, access == SharedMemory.Access.WRITE);
    }

    @Override
    public void setWaiting(Waiting waiting) {
        this.waiting = waiting;
    }

    @Override
    public Connections connections() {
        int calling = links.values().stream().mapToInt(Link::channels).sum();
        return new Connections(IdleConnections.HOT.get(), IdleConnections.VIRTUAL.get(), IdleConnections.WARM.get(), calling, IdleConnections.COOLED.get(), IdleConnections.CLOSED.get());
    }

    @Override
    public <R, E extends Throwable> R within(Duration time, ScopedValue.CallableOp<? extends R, E> work) throws E {
        return CallContext.current().by(Deadline.in(time)).during(work);
    }

    @Override
    public Optional<Instant> callerDeadline() {
        return CallContext.current().callerDeadline();
    }

    @Override
    public <R, E extends Throwable> R withTrace(Trace trace, ScopedValue.CallableOp<? extends R, E> work) throws E {
        return CallContext.current().of(trace).during(work);
    }

    @Override
    public Optional<Trace> trace() {
        return CallContext.current().trace();
    }

    // Exports.

    @Override
    public <T> Export export(T object, Class<T> type, String name, Threading threading) {
        refuseProxy(requireNonNull(object, "object"));
        Named named = new Named(type.cast(object), InterfaceInfo.of(type), threading == Threading.VIRTUAL);
        serve();
        Directory.Name bound = Directory.own().bind(name);
        try {
            synchronized (names) {
                networks.export(object, named.info, name);
                names.put(name, named);
            }
        } catch (RpcException e) {
            bound.close();
            throw e;
        }
        accept(bound, name, false);
        return new Exported(name, bound);
    }

    private static void refuseProxy(Object object) {
        if (object instanceof Proxy) {
            throw RpcException.of(Hresult.E_NOTIMPL, "the object lives in another process, and only that process can export it");
        }
    }

    private final class Exported implements Export {
        private final String name;
        private final Directory.Name bound;

        Exported(String name, Directory.Name bound) {
            this.name = name;
            this.bound = bound;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public void replace(Object object) {
            put(object, null);
        }

        @Override
        public <T> void replace(T object, Class<T> type) {
            put(type.cast(object), InterfaceInfo.of(type));
        }

        @Override
        public <T> void rebind(T object, Class<T> type) {
            refuseProxy(requireNonNull(object, "object"));
            InterfaceInfo<T> info = InterfaceInfo.of(type);
            synchronized (names) {
                checkOpen();
                networks.rebind(object, info, name);
                names.computeIfPresent(name, (n, named) -> new Named(type.cast(object), info, named.isVirtual));
            }
        }

        private void checkOpen() {
            if (!bound.isServed()) {
                throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the export is closed");
            }
        }

        private void put(Object object, InterfaceInfo<?> newer) {
            refuseProxy(requireNonNull(object, "object"));
            synchronized (names) {
                checkOpen();
                Object former = names.get(name).object;
                var all = names.entrySet().stream().filter(entry -> entry.getValue().object == former).toList();
                all.forEach(entry -> entry.getValue().infoFor(object).check(object));
                rules.inherit(former, object);
                exports.replace(former, object);
                networks.replace(former, object);
                for (var entry : all) {
                    Named named = entry.getValue();
                    boolean isNewer = newer != null && entry.getKey().equals(name);
                    entry.setValue(new Named(object, isNewer ? newer : named.infoFor(object), named.isVirtual));
                }
            }
        }

        @Override
        public void close() {
            synchronized (names) {
                if (bound.isServed()) {
                    bound.close();
                    names.remove(name);
                    networks.end(name);
                }
            }
        }
    }

    /** Opens the endpoint of this process, which its object references lead to. */
    private synchronized void serve() {
        if (ownEndpoint == null) {
            ownEndpoint = Directory.own().bind(Link.endpoint(oxid));
            accept(ownEndpoint, "own", true);
            Runtime.getRuntime().addShutdownHook(new Thread(ownEndpoint::close));
        }
    }

    void accept(Directory.Name name, String what, boolean isDaemon) {
        Acceptor.start(name, what, isDaemon, socket -> Thread.ofPlatform().name("obvia-serve").daemon().start(() -> greet(socket)));
    }

    private void greet(SocketChannel socket) {
        Window window;
        try {
            window = Window.accept(socket, waiting, Deadline.in(GREETING));
        } catch (RpcException e) {
            return;
        } catch (RuntimeException | Error e) {
            GREETINGS.warn("a client is not served", e);
            return;
        }
        new Connection(this, window).run();
    }

    /**
     * Adds a connection of a client. Returns false if the connection comes from another process
     * than the client's earlier ones: it must not release the client's references.
     */
    boolean enter(long client, long pid) {
        return clients.compute(client, (c, known) -> known == null ? new Client(pid, 1, new ReferencesToReturn()) : known.pid == pid ? known.counted(1) : known).pid == pid;
    }

    /** Removes a connection of a client. With the last one, the client's references are dropped. */
    void leave(long client) {
        clients.computeIfPresent(client, (c, known) -> {
            if (known.count > 1) {
                return known.counted(-1);
            }
            // The references are dropped before the client can connect again.
            exports.drop(client);
            marks.remove(client);
            return null;
        });
    }

    long markFor(long client) {
        return marks.computeIfAbsent(client, c -> draw());
    }

    /**
     * Marshals a reference to the object that is exported under a name, with references counted for
     * the client.
     */
    ObjRef marshalNamed(String name, Guid iid, Connection to) {
        // The lock prevents a replacement of the object meanwhile.
        synchronized (names) {
            Named named = names.get(name);
            if (named == null) {
                throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "nothing is exported as `" + name + "`");
            }
            rules.admit(named.object, name, to.peer());
            return marshalOwn(named.object, Interfaces.find(iid, named.object), to.client(), named.isVirtual);
        }
    }

    String listNames() {
        StringBuilder lines = new StringBuilder();
        names.forEach((name, named) -> lines.append(
                name + "\t" + named.info.name() + "\t" + RuntimeCalls.text(named.info.iid()) + "\n"));
        return lines.toString();
    }

    /**
     * Marshals a reference to an object of this process, with references counted for the client.
     */
    ObjRef marshalOwn(Object object, InterfaceInfo<?> info, long client, boolean isVirtual) {
        info.check(object);
        serve();
        int refs = RuntimeCalls.REFS_PER_QUERY;
        Exports.Entry entry = exports.add(object, info, client, refs, isVirtual);
        return new ObjRef(info.iid(), refs, oxid, entry.oid(), entry.target(), List.of(Link.endpoint(oxid)));
    }

    @Override
    public <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make, Object classObject) {
        serve();
        return classes.register(classId, InterfaceInfo.of(type), make, classObject);
    }

    @Override
    public void serveUntilIdle(Duration idle) throws InterruptedException {
        classes.serveUntilIdle(idle);
    }

    @Override
    public void setPinging(Duration period, int missed) {
        networks.network("pings").setPinging(period, missed);
    }

    @Override
    public void setAccounts(Map<String, String> passwords) {
        networks.network("accounts").setAccounts(passwords);
    }

    @Override
    public void setAccess(Object object, Access rule) {
        refuseProxy(object);
        networks.setAccess(object, rule);
        exports.recall();
        ProcessRuntime other = outside();
        if (other != null) {
            other.exports.recall();
        }
    }

    private synchronized ProcessRuntime outside() {
        return outside;
    }

    @Override
    public void setClassAccess(Guid classId, Access rule) {
        networks.setClassAccess(classId, rule);
    }

    @Override
    public Caller caller() {
        Connection connection = Connection.current();
        return connection == null ? networks.caller() : connection.peer();
    }

    @Override
    public void setExceptionTexts(boolean areTold) {
        ErrorInfo.setMessagesAreSent(areTold);
    }

    @Override
    public boolean isCancelled() {
        Connection connection = Connection.current();
        return connection == null ? networks.isCancelled() : connection.isCancelled();
    }

    // Calls.

    @Override
    public void setCredentials(Credentials credentials) {
        networks.network("credentials").setCredentials(credentials);
    }

    @Override
    public <T> byte[] marshal(T object, Class<T> type) {
        return networks.marshal(type.cast(object), InterfaceInfo.of(type));
    }

    @Override
    public <T> T unmarshal(byte[] reference, Class<T> type) {
        return networks.network("references as bytes").unmarshal(reference, InterfaceInfo.of(type));
    }

    @Override
    public void releaseMarshalData(byte[] reference) {
        networks.network("references as bytes").releaseMarshalData(reference);
    }

    @Override
    public Endpoint connect(String binding) {
        return connect(binding, null);
    }

    @Override
    public Endpoint connect(String binding, Credentials credentials) {
        if (!binding.isEmpty() && !binding.equals("ncacn_vi_shm:")) {
            return networks.connect(binding, credentials);
        }
        return host();
    }

    /** Returns the endpoint of this host. */
    private Endpoint host() {
        return new ClosableEndpoint() {
            @Override
            <T> T find(Class<T> type, String name) {
                return ProcessRuntime.this.bind(type, name);
            }

            @Override
            <T> T create(Guid classId, Class<T> type, boolean wantsClass) {
                return classes.create(classId, type, wantsClass);
            }
        };
    }

    @Override
    public synchronized Endpoint loopback() {
        if (outside == null) {
            outside = new ProcessRuntime(rules);
            outside.waiting = waiting;
        }
        return outside.host();
    }

    @Override
    public String listen(String binding) {
        synchronized (names) {
            return networks.listen(binding, names);
        }
    }

    private <T> T bind(Class<T> type, String name) {
        InterfaceInfo<T> info = InterfaceInfo.of(type);
        Named own = names.get(name);
        if (own != null) {
            return as(own.object, type);
        }
        Link link = linkAt(name);
        return adopt(RuntimeCalls.resolve(link, name, info), info, link, link.oxid());
    }

    /** Returns the link to the process that serves a name. */
    Link linkAt(String name) {
        return keep(Link.reach(this, name));
    }

    /** Returns the existing link to a process, or {@code null}. */
    Link known(long oxid) {
        Link link = links.get(oxid);
        if (link != null && link.isDead()) {
            links.remove(oxid, link);
            link.close();
            // The process has no connection to this one: references that were sent to it have not
            // arrived.
            if (!clients.containsKey(oxid)) {
                exports.drop(oxid);
            }
            return null;
        }
        return link;
    }

    /** Returns the references to be given back to a connected client. */
    ReferencesToReturn referencesToReturn(long client) {
        return clients.get(client).toReturn;
    }

    /** Whether there are references to be given back to a process. */
    boolean hasReferencesToReturn(long oxid) {
        Client client = clients.get(oxid);
        return client != null && client.toReturn.first() != null;
    }

    /**
     * Removes the oldest list of references that are owed to the OXID of a link, and returns it, to
     * be given back over the link. If the list came from another process, which only claims the
     * OXID, the list is dropped and the returned one is empty.
     *
     * @throws RpcException if the process at the link does not answer; the list stays
     */
    List<RuntimeCalls.CountedReference> takeReferencesToReturn(Link link) {
        Client client = clients.get(link.oxid());
        ReferencesToReturn.Source from = client == null ? null : client.toReturn.first();
        if (from == null) {
            return List.of();
        }
        boolean isSame = from.isFrom(link);
        List<RuntimeCalls.CountedReference> list = client.toReturn.take(from);
        return isSame ? list : List.of();
    }

    /** Whether this process has opened the connection with this mark to another process. */
    boolean hasOpened(long oxid, long mark) {
        Link link = links.get(oxid);
        return link != null && link.hasConnected(mark);
    }

    private Link keep(Link link) {
        startJanitor();
        Link known = known(link.oxid());
        if (known == link) {
            return link;
        }
        if (known != null) {
            link.close();
            return known;
        }
        Link raced = links.putIfAbsent(link.oxid(), link);
        if (raced != null) {
            link.close();
            return raced;
        }
        return link;
    }

    /**
     * Returns the proxy for a received reference, or the object itself if it belongs to this
     * process.
     *
     * @param from a link that may lead to the object's process, or {@code null}
     * @param sender the process that sent the reference, whose own references are released if the
     *     object belongs to this process
     */
    <T> T adopt(ObjRef reference, InterfaceInfo<T> info, Link from, long sender) {
        if (!reference.iid().equals(info.iid())) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has another interface than requested");
        }
        if (reference.oxid() == oxid) {
            Exports.Entry own = exports.get(reference.target());
            if (!info.type().isInstance(own.object())) {
                throw RpcException.of(Hresult.E_NOINTERFACE, "the reference leads to an object without the requested interface");
            }
            Object object = own.object();
            exports.release(sender, reference.target(), reference.refs());
            return info.type().cast(object);
        }
        Link link = from != null && from.oxid() == reference.oxid() ? from : linkTo(reference);
        if (reference.refs() == 0) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has a count of 0");
        }
        link.bind(info);
        return info.proxy().apply(new Reference(link, reference.target(), reference.oid(), reference.refs()));
    }

    private Link linkTo(ObjRef reference) {
        Link known = known(reference.oxid());
        if (known != null) {
            return known;
        }
        if (reference.endpoints().isEmpty()) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has no binding");
        }
        String endpoint = Link.endpoint(reference.oxid());
        if (!reference.endpoints().contains(endpoint)) {
            throw RpcException.of(Hresult.RPC_S_SERVER_UNAVAILABLE, "the process that has the object cannot be reached through shared memory");
        }
        return keep(Link.reach(this, endpoint));
    }

    @Override
    public <T> T as(Object object, Class<T> type) {
        if (type.isInstance(object)) {
            return type.cast(object);
        }
        Reference reference = Reference.of(object);
        if (reference == null) {
            throw RpcException.of(Hresult.E_NOINTERFACE, "the object is not a " + type.getName());
        }
        try {
            return reference.query(InterfaceInfo.of(type));
        } finally {
            java.lang.ref.Reference.reachabilityFence(object);
        }
    }

    @Override
    public boolean isSame(Object one, Object other) {
        return one == other || one instanceof Proxy proxy && proxy.equals(other);
    }

    @Override
    public void release(Object object) {
        Reference reference = Reference.of(object);
        if (reference != null) {
            reference.release();
        }
    }

    // Cleanup.

    private void startJanitor() {
        if (janitor != null) {
            return;
        }
        synchronized (this) {
            if (janitor == null) {
                WeakReference<ProcessRuntime> runtime = new WeakReference<>(this);
                janitor = RepeatedTask.start("obvia-janitor", true, "releasing references", () -> tidy(runtime.get()));
            }
        }
    }

    /** Cleans up once. Returns whether the runtime still exists. */
    private static boolean tidy(ProcessRuntime runtime) throws InterruptedException {
        if (runtime == null) {
            return false;
        }
        if (runtime.janitorsBell.tryAcquire(IdleConnections.period(), TimeUnit.MILLISECONDS)) {
            runtime.janitorsBell.drainPermits();
        }
        for (Link link : runtime.links.values()) {
            if (runtime.known(link.oxid()) == link) {
                link.tidy();
            }
        }
        return true;
    }

    void wakeJanitor() {
        janitorsBell.release();
    }
}
