package obvia.runtime.objects;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import obvia.ClassRegistration;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.call.CallContext;
import obvia.runtime.call.Deadline;
import obvia.runtime.shm.Directory;

/**
 * The classes that this process registers, and the creation of objects in other processes.
 * {@code crates/com/src/services/dcom} has both sides in Rust.
 *
 * <p>For a registered class, the server takes a name in the directory. A client connects to that
 * name, and requests the object from the server.
 */
final class Classes {
    /** The name of the SCM, which starts servers. */
    private static final String SERVICE = "scm";

    /**
     * The environment variable with the idle period of this process in seconds. The SCM sets the
     * variable to the period in the class's registration.
     */
    private static final String IDLE_TIMEOUT = "OBVIA_IDLE_TIMEOUT";

    /**
     * The maximum number of servers that are started for one activation. A further start is needed
     * if a server ends before it has created the object.
     */
    private static final int STARTS_MAX = 3;

    /** The pause in nanoseconds before the next attempt at a server that is starting or ending. */
    private static final long PAUSE = 5_000_000;

    /** The bounds of the interval at which a process checks whether it is in use. */
    private static final Duration LOOK_MIN = Duration.ofMillis(5);

    private static final Duration LOOK_MAX = Duration.ofMillis(500);

    private final ProcessRuntime runtime;
    private final Networks networks;
    private final Map<Guid, Registered> registered = new HashMap<>();
    // The number of activations in progress, and the time at which the last activation ended.
    private int busy;
    private long used = System.nanoTime();
    private boolean isEnding;

    Classes(ProcessRuntime runtime, Networks networks) {
        this.runtime = runtime;
        this.networks = networks;
    }

    private static String endpoint(Guid id) {
        return String.format("class-%016x%016x", id.high(), id.low());
    }

    private static RpcException unknown(Guid id, String why) {
        return RpcException.of(Hresult.REGDB_E_CLASSNOTREG, "the class {" + id + "} " + why);
    }

    // Creation of objects in this process.

    /** A class that this process has registered. */
    private final class Registered implements ClassRegistration {
        private final Guid id;
        private final Supplier<?> make;
        private final Object classObject;
        // The name of the class in the directory; null if another process has taken the name.
        private Directory.Name name;

        Registered(Guid id, Supplier<?> make, Object classObject) {
            this.id = id;
            this.make = make;
            this.classObject = classObject;
        }

        @Override
        public Guid classId() {
            return id;
        }

        @Override
        public void close() {
            synchronized (Classes.this) {
                if (registered.remove(id, this)) {
                    try {
                        if (name != null) {
                            name.close();
                        }
                    } finally {
                        networks.endClass(id);
                    }
                }
            }
        }

        private Object activate(boolean wantsClass) {
            Object object = wantsClass ? classObject : make.get();
            if (object == null) {
                throw wantsClass
                        ? RpcException.of(Hresult.E_NOINTERFACE, "the class {" + id + "} has no class object")
                        : RpcException.of(Hresult.E_POINTER, "the function for new objects of the class {" + id + "} returned none");
            }
            return object;
        }
    }

    ClassRegistration register(Guid id, InterfaceInfo<?> info, Supplier<?> make, Object classObject) {
        Registered own = new Registered(id, make, classObject);
        synchronized (this) {
            if (registered.putIfAbsent(id, own) != null) {
                throw RpcException.of(Hresult.E_INVALIDARG, "the class {" + id + "} is already registered");
            }
            try {
                networks.registerClass(id, info, () -> provide(id, false, Function.identity()), classObject);
                own.name = Directory.own().bind(endpoint(id));
            } catch (RpcException e) {
                if (e.result() != Hresult.RPC_S_DUPLICATE_ENDPOINT) {
                    own.close();
                    throw e;
                }
            }
        }
        boolean isDone = false;
        try {
            if (own.name != null) {
                runtime.accept(own.name, "class", false);
            }
            isDone = true;
            return own;
        } finally {
            if (!isDone) {
                own.close();
            }
        }
    }

    /**
     * Creates an object of a class, or takes its class object, and performs work with that object.
     * The process does not count as idle until the work is done.
     */
    <R> R provide(Guid id, boolean wantsClass, Function<Object, R> work) {
        Registered found;
        synchronized (this) {
            found = registered.get(id);
            if (found == null) {
                throw unknown(id, isEnding ? "is no longer registered in this process: the server is about to end" : "is not registered in this process");
            }
            busy++;
        }
        try {
            return work.apply(found.activate(wantsClass));
        } finally {
            synchronized (this) {
                busy--;
                used = System.nanoTime();
            }
        }
    }

    private synchronized boolean has(Guid id) {
        return registered.containsKey(id);
    }

    // Creation of objects in other processes.

    <T> T create(Guid id, Class<T> type, boolean wantsClass) {
        if (has(id)) {
            return runtime.as(provide(id, wantsClass, Function.identity()), type);
        }
        InterfaceInfo<T> info = InterfaceInfo.of(type);
        Deadline deadline = CallContext.currentDeadline();
        return CallContext.current().by(deadline).during(() -> createBy(id, info, wantsClass, deadline));
    }

    /** Creates the object in a running server, or in a server that the SCM starts. */
    private <T> T createBy(Guid id, InterfaceInfo<T> info, boolean wantsClass, Deadline deadline) {
        for (int starts = 0; ; ) {
            try {
                Link link = runtime.links().linkToName(endpoint(id));
                return runtime.adopt(RuntimeClient.activate(link, id, info, wantsClass), info, link, link.oxid());
            } catch (RpcException e) {
                if (!mayBeEnding(e.result()) || starts == STARTS_MAX || deadline.isOver()) {
                    throw e;
                }
            }
            if (start(id, deadline)) {
                starts++;
            } else {
                // The SCM reports a running server: another process has just started the server, or
                // the server is ending.
                LockSupport.parkNanos(PAUSE);
            }
        }
    }

    /**
     * Whether a server that has just ended, or is ending, can be the cause of the failure. The SCM
     * can then start another server.
     */
    private static boolean mayBeEnding(int result) {
        return result == Hresult.RPC_S_SERVER_UNAVAILABLE || result == Hresult.RPC_E_DISCONNECTED || result == Hresult.REGDB_E_CLASSNOTREG;
    }

    /** Requests a server from the SCM. Returns whether the SCM had to start the server. */
    private boolean start(Guid id, Deadline deadline) {
        Link service;
        try {
            service = runtime.links().linkToName(SERVICE);
        } catch (RpcException e) {
            if (e.result() != Hresult.RPC_S_SERVER_UNAVAILABLE) {
                throw e;
            }
            throw unknown(id, "is registered by no process of this user, and the SCM that could start one does not run: run `obvia scm`");
        }
        return RuntimeClient.start(service, id, deadline.left() / 1_000_000);
    }

    // Idle shutdown.

    void serveUntilIdle(Duration given) throws InterruptedException {
        Duration idle = idleTimeout(given);
        Duration eighth = idle.dividedBy(8);
        Duration look = eighth.compareTo(LOOK_MIN) < 0 ? LOOK_MIN : eighth.compareTo(LOOK_MAX) > 0 ? LOOK_MAX : eighth;
        long unusedSince = System.nanoTime();
        while (true) {
            Thread.sleep(look);
            if (!isUnused()) {
                unusedSince = System.nanoTime();
            } else if (System.nanoTime() - unusedSince >= Deadline.nanos(idle) && end(idle)) {
                return;
            }
        }
    }

    private static Duration idleTimeout(Duration given) {
        String set = System.getenv(IDLE_TIMEOUT);
        try {
            return set == null ? given : Duration.ofSeconds(Integer.parseUnsignedInt(set));
        } catch (NumberFormatException e) {
            return given;
        }
    }

    private boolean isUnused() {
        return runtime.exports().count() == 0 && networks.held() == 0;
    }

    /**
     * Revokes all classes if they have been idle for the period and no client holds a reference.
     * Returns whether they were revoked.
     */
    private synchronized boolean end(Duration idle) {
        if (busy > 0 || System.nanoTime() - used < Deadline.nanos(idle) || !isUnused()) {
            return false;
        }
        isEnding = true;
        // Clients that look for a server from now on find none, and the SCM starts another server.
        List.copyOf(registered.values()).forEach(Registered::close);
        return true;
    }
}
