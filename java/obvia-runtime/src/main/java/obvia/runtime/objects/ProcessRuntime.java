package obvia.runtime.objects;

import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
import obvia.runtime.Proxy;
import obvia.runtime.Reference;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.call.ErrorInfo;
import obvia.runtime.call.LimitedLog;
import obvia.runtime.shm.Acceptor;
import obvia.runtime.shm.Directory;
import obvia.runtime.shm.OwnRegion;
import obvia.runtime.shm.Window;

/** The runtime of this process: its OXID, its exports, and its connections to other processes. */
public final class ProcessRuntime implements obvia.ObviaRuntime {
    private static final LimitedLog GREETINGS = new LimitedLog();

    /**
     * The time limit of a client's first message. Until a client has sent this message, it occupies
     * a thread.
     */
    private static final Duration GREETING = Duration.ofSeconds(10);

    private final long oxid = Clients.drawNumber();
    private final Exports exports = new Exports();
    private final Links links = new Links(this);
    private final Clients clients = new Clients(exports, links::hasLiving);
    private final Rules rules;
    private final Networks networks;
    private final Classes classes;
    private final NamedExports named;
    private Directory.Name ownEndpoint;
    private volatile Waiting waiting = Waiting.ADAPTIVE;
    /**
     * The runtime that represents this process as a client of itself, created at the first use of
     * {@link #loopback}.
     */
    private ProcessRuntime outside;

    /** Creates the runtime. {@link java.util.ServiceLoader} calls this constructor. */
    public ProcessRuntime() {
        this(new Rules());
    }

    // The objects that receive `this` start no thread before the constructor returns.
    @SuppressWarnings("this-escape")
    private ProcessRuntime(Rules rules) {
        this.rules = rules;
        networks = new Networks(rules);
        classes = new Classes(this, networks);
        named = new NamedExports(this, networks);
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new UnsupportedOperationException("obvia supports little-endian machines only");
        }
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

    Clients clients() {
        return clients;
    }

    Links links() {
        return links;
    }

    NamedExports namedExports() {
        return named;
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
        int calling = links.channels();
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
        return named.export(object, type, name, threading);
    }

    static void refuseProxy(Object object) {
        if (object instanceof Proxy) {
            throw RpcException.of(Hresult.E_NOTIMPL, "the object lives in another process, and only that process can export it");
        }
    }

    /** Opens the endpoint of this process, to which its object references lead. */
    synchronized void serve() {
        if (ownEndpoint == null) {
            Directory.Name bound = Directory.own().bind(ObjRef.endpoint(oxid));
            try {
                accept(bound, "own", true);
                closeAtExit(bound);
                ownEndpoint = bound;
            } finally {
                if (ownEndpoint == null) {
                    bound.close();
                }
            }
        }
    }

    private static void closeAtExit(Directory.Name bound) {
        try {
            Runtime.getRuntime().addShutdownHook(new Thread(bound::close));
        } catch (IllegalStateException e) {
            // The process is ending. Calls of this process, such as calls by shutdown hooks, still
            // use the endpoint.
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
            // A client can leave before it has greeted, so other failures are not logged.
            if (e.result() == Hresult.E_OUTOFMEMORY) {
                GREETINGS.warn("a client is not served", e);
            }
            return;
        } catch (RuntimeException | Error e) {
            GREETINGS.warn("a client is not served", e);
            return;
        }
        new Connection(this, window).run();
    }

    /**
     * Marshals a reference to an object of this process, with references counted for the client.
     * {@code isVirtual} is as in {@link Exports#add}.
     */
    ObjRef marshalOwn(Object object, InterfaceInfo<?> info, long client, boolean isVirtual) {
        serve();
        int refs = RuntimeCalls.REFS_PER_QUERY;
        Exports.Entry entry = exports.add(object, info, client, refs, isVirtual);
        return new ObjRef(info.iid(), refs, oxid, entry.oid(), entry.target(), List.of(ObjRef.endpoint(oxid)));
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
        recall();
    }

    /** Makes all connections check the rules again. */
    void recall() {
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
        ErrorInfo.sendMessages(areTold);
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
        return named.listen(binding);
    }

    private <T> T bind(Class<T> type, String name) {
        InterfaceInfo<T> info = InterfaceInfo.of(type);
        NamedExport own = named.get(name);
        if (own != null) {
            return as(own.object(), type);
        }
        return CallContext.byOneDeadline(() -> {
            Link link = links.linkToName(name);
            return adopt(RuntimeClient.resolve(link, name, info), info, link, link.oxid());
        });
    }

    /**
     * Returns the proxy for a received reference, or the object itself if it belongs to this
     * process. If no proxy can be created, the reference is given back.
     *
     * @param from a link that may lead to the object's process, or {@code null}
     * @param sender the OXID of the process that sent the reference; if the object belongs to this
     *     process, the references of that process are released
     */
    <T> T adopt(ObjRef reference, InterfaceInfo<T> info, Link from, long sender) {
        if (reference.oxid() == oxid) {
            return ownObject(reference, info, sender);
        }
        if (reference.refs() == 0) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has a count of 0");
        }
        if (from != null && from.oxid() == reference.oxid() && from.isBound(info)) {
            return proxy(reference, info, from);
        }
        return CallContext.byOneDeadline(() -> proxy(reference, info, from));
    }

    private <T> T proxy(ObjRef reference, InterfaceInfo<T> info, Link from) {
        Link link = from;
        if (from != null && from.oxid() == reference.oxid()) {
            from.addProxy(reference.target());
        } else {
            link = links.linkToObject(reference);
        }
        try {
            checkInterface(reference, info);
            link.bind(info);
        } catch (RuntimeException | Error e) {
            link.releaseLater(reference.target(), reference.refs());
            throw e;
        }
        return link.addedProxy(info, reference.target(), reference.oid(), reference.refs());
    }

    /**
     * Verifies that a client may name an object of this process: the client must have references to
     * the object, or must be permitted to call it. A process that knows an object's number can
     * forge a reference to the object.
     */
    void checkNamed(long target, long client, Caller caller) {
        Exports.Entry entry = exports.find(target);
        if (entry != null && !exports.isHolder(client, target)) {
            rules.admit(entry.object(), "a reference to " + entry.info().name(), caller);
        }
    }

    private static void checkInterface(ObjRef reference, InterfaceInfo<?> info) {
        if (!reference.iid().equals(info.iid())) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference has another interface than requested");
        }
    }

    /**
     * Returns the object of this process to which a received reference leads, and releases the
     * reference.
     */
    private <T> T ownObject(ObjRef reference, InterfaceInfo<T> info, long sender) {
        try {
            checkInterface(reference, info);
            Object own = exports.get(reference.target()).object();
            if (!info.type().isInstance(own)) {
                throw RpcException.of(Hresult.E_NOINTERFACE, "the reference leads to an object without the requested interface");
            }
            return info.type().cast(own);
        } finally {
            exports.release(sender, reference.target(), reference.refs());
        }
    }

    @Override
    public <T> T as(Object object, Class<T> type) {
        if (type.isInstance(object)) {
            return type.cast(object);
        }
        if (!(object instanceof Proxy proxy)) {
            throw RpcException.of(Hresult.E_NOINTERFACE, "the object is not a " + type.getName());
        }
        return Reference.query(proxy, InterfaceInfo.of(type));
    }

    @Override
    public boolean isSame(Object one, Object other) {
        return one == other || one instanceof Proxy proxy && proxy.equals(other);
    }

    @Override
    public void release(Object object) {
        if (object instanceof Proxy proxy) {
            Reference.release(proxy);
        }
    }
}
