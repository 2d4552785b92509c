package obvia;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import obvia.spi.Runtime;

/** Exporting objects, and binding those that others export. */
public final class Obvia {
    private Obvia() {}

    /**
     * Lets other processes of this host and user bind an object by a name.
     *
     * <p>The object's methods are called by several threads at once: {@link Threading#PLATFORM} ones.
     *
     * @param <T> the interface
     * @param object the object; not {@code null}
     * @param type the interface that others call it by, first; they may ask for every other one that its class implements
     * @param name the name
     * @return the export, to be closed when it is to end
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT when a live process serves the name, E_INVALIDARG when it cannot be one
     */
    public static <T> Export export(T object, Class<T> type, String name) {
        return export(object, type, name, Threading.PLATFORM);
    }

    /**
     * The same with the threads that call the methods: those of the object, and of the objects that its methods hand out.
     *
     * @param <T> the interface
     * @param object the object; not {@code null}
     * @param type the interface that others call it by, first; they may ask for every other one that its class implements
     * @param name the name
     * @param threading the threads
     * @return the export, to be closed when it is to end
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT when a live process serves the name, E_INVALIDARG when it cannot be one
     */
    public static <T> Export export(T object, Class<T> type, String name, Threading threading) {
        return Runtime.instance().export(object, type, name, threading);
    }

    /**
     * This host: what its processes export through shared memory.
     *
     * @return where objects are bound; what this process exports itself is the object, and no proxy
     */
    public static Endpoint connect() {
        return Runtime.instance().connect("");
    }

    /**
     * This host as another process would see it: what this process exports is reached by proxies as well.
     *
     * <p>A call of such a proxy goes the way of any other, through shared memory to a thread that serves it, with everything that it passes. So a test of one process alone sees what
     * its interface does to arguments, results and failures.
     *
     * @return where objects are bound; an object that is passed to one of them arrives as a proxy, which calls back
     */
    public static Endpoint loopback() {
        return Runtime.instance().loopback();
    }

    /**
     * Whom a string binding leads to.
     *
     * @param binding {@code ncacn_vi_shm:} for this host; with obvia-native {@code ncacn_vi_udp:host[port]}, {@code ncacn_ip_tcp:host[port]} and
     *     others
     * @return where objects are bound
     * @throws RpcException with E_INVALIDARG when it is of a protocol sequence that there is nothing for
     */
    public static Endpoint connect(String binding) {
        return Runtime.instance().connect(binding);
    }

    /**
     * The same with other credentials than those of {@link #setCredentials}. What is connected with them keeps them, and they are kept.
     *
     * @param binding with obvia-native, one that asks for security: {@code ncacn_ip_tcp:host[port,security=privacy]}
     * @param credentials who to be there
     * @return where objects are bound
     * @throws RpcException with E_INVALIDARG when it is of a protocol sequence that there is nothing for
     */
    public static Endpoint connect(String binding, Credentials credentials) {
        return Runtime.instance().connect(binding, credentials);
    }

    /**
     * Lets processes of other hosts reach what this one exports, now and later: with obvia-native, {@code ncacn_vi_udp:0.0.0.0[5555]}, or without
     * an endpoint to have one chosen.
     *
     * @param binding a string binding
     * @return the binding, with the endpoint that was taken
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT for an endpoint that is taken; E_INVALIDARG when it is no string binding, or of a protocol
     *     sequence that there is nothing for
     */
    public static String listen(String binding) {
        return Runtime.instance().listen(binding);
    }

    /**
     * The object that a process of this host exports by a name: {@link #connect()} and {@link Endpoint#bind}.
     *
     * @param <T> the interface
     * @param type the interface that it is called by
     * @param name the name
     * @return a proxy, or the object itself where this process exports it
     * @throws RpcException as for {@link Endpoint#bind}
     */
    public static <T> T bind(Class<T> type, String name) {
        return connect().bind(type, name);
    }

    /**
     * Has others make objects of a class in this process (CoRegisterClassObject): processes of this user on this host, and those who ask at what it
     * {@linkplain #listen listens} on.
     *
     * <p>Where several processes of a user register a class, those of this host find the first of them.
     *
     * @param <T> the interface
     * @param classId the class: its CLSID
     * @param type the interface of the objects; they may be asked for every other one that their class implements
     * @param make makes an object; any thread calls it
     * @return the registration, to be closed when it is to end
     * @throws RpcException with E_INVALIDARG for a class that is registered already
     */
    public static <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make) {
        return registerClass(classId, type, make, null);
    }

    /**
     * The same with an object that stands for the class itself, for those who ask for that (CoGetClassObject).
     *
     * @param <T> the interface
     * @param classId the class: its CLSID
     * @param type the interface of the objects; they may be asked for every other one that their class implements
     * @param make makes an object; any thread calls it
     * @param classObject what stands for the class, or {@code null}
     * @return the registration, to be closed when it is to end
     * @throws RpcException with E_INVALIDARG for a class that is registered already
     */
    public static <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make, Object classObject) {
        return Runtime.instance().registerClass(classId, type, make, classObject);
    }

    /**
     * A new object of a class (CoCreateInstanceEx), made by this process where it has registered the class, or else by another one of this user and
     * host, which {@code obvia scm} starts where a registration says how.
     *
     * @param <T> the interface
     * @param classId the class: its CLSID
     * @param type the interface that the object is called by
     * @return a proxy, or the object itself where this process has made it
     * @throws RpcException with REGDB_E_CLASSNOTREG where nobody makes objects of the class, CO_E_SERVER_EXEC_FAILURE when its server could not be
     *     started, E_NOINTERFACE when they have no such interface
     */
    public static <T> T createInstance(Guid classId, Class<T> type) {
        return connect().createInstance(classId, type);
    }

    /**
     * Serves until nobody has used this process for so long: nobody refers to an object of it, or has one made. Where the service started it, and its
     * class's registration says how long, that counts instead.
     *
     * <p>When it returns no class is registered any more, and the next who wants an object has a new server started.
     *
     * @param idle how long
     * @throws InterruptedException where the thread is interrupted meanwhile
     */
    public static void serveUntilIdle(Duration idle) throws InterruptedException {
        Runtime.instance().serveUntilIdle(idle);
    }

    /**
     * Says how often clients have to ping that are no processes of obvia's, and how many pings in a row may not arrive: two minutes and three where
     * nobody says otherwise. With obvia-native.
     *
     * @param period the time between two pings
     * @param missed how many
     */
    public static void setPinging(Duration period, int missed) {
        Runtime.instance().setPinging(period, missed);
    }

    /**
     * Says who this process is to servers that it connects to from now on by bindings that ask for {@code security}. With obvia-native.
     *
     * @param credentials who it is
     */
    public static void setCredentials(Credentials credentials) {
        Runtime.instance().setCredentials(credentials);
    }

    /**
     * Says who may call this process where it {@linkplain #listen listens} with {@code security}: users, and their passwords. With obvia-native.
     *
     * <p>Where nobody says so, it is who has an account in the file that the variable {@code OBVIA_ACCOUNTS} names.
     *
     * @param passwords passwords by their users
     */
    public static void setAccounts(Map<String, String> passwords) {
        Runtime.instance().setAccounts(passwords);
    }

    /**
     * Says whether callers are told the messages of exceptions that a method throws without declaring them, beside their classes. By default they are told in virtual machines with assertions
     * ({@code -enableassertions}), as tests have them. Processes of other users, and on other hosts, are told the class alone: a message may contain values that are not theirs.
     *
     * @param areTold whether they are told
     */
    public static void setExceptionTexts(boolean areTold) {
        Runtime.instance().setExceptionTexts(areTold);
    }

    /**
     * Says who may call an object of this process from outside of it, by whichever of its interfaces, from the next call on. Others get E_ACCESSDENIED, and are not
     * given the object by its name. Its own rule holds instead of {@linkplain #setDefaultAccess the one for all}.
     *
     * <p>The rule keeps the object until {@link #clearAccess}.
     *
     * @param object the object
     * @param rule the rule
     */
    public static void setAccess(Object object, Access rule) {
        Runtime.instance().setAccess(requireNonNull(object), requireNonNull(rule));
    }

    /**
     * Takes back what {@link #setAccess} has said of an object.
     *
     * @param object the object
     */
    public static void clearAccess(Object object) {
        Runtime.instance().setAccess(requireNonNull(object), null);
    }

    /**
     * Says who may call objects of this process that have no {@linkplain #setAccess rule of their own}, from the next call on.
     *
     * @param rule the rule
     */
    public static void setDefaultAccess(Access rule) {
        Runtime.instance().setAccess(null, requireNonNull(rule));
    }

    /**
     * Says who may have objects of a class made by this process, or get what stands for the class. Its own rule holds instead of
     * {@linkplain #setDefaultClassAccess the one for all}.
     *
     * @param classId the class: its CLSID
     * @param rule the rule
     */
    public static void setClassAccess(Guid classId, Access rule) {
        Runtime.instance().setClassAccess(requireNonNull(classId), requireNonNull(rule));
    }

    /**
     * Says who may have objects made of classes that have no {@linkplain #setClassAccess rule of their own}. Where nobody says so, it is those who may
     * {@linkplain #setDefaultAccess call}.
     *
     * @param rule the rule
     */
    public static void setDefaultClassAccess(Access rule) {
        Runtime.instance().setClassAccess(null, requireNonNull(rule));
    }

    /**
     * Who called the method that runs on this thread.
     *
     * <p>Nobody is taken for somebody who may do everything: a method that goes on on another thread, or that this process calls itself, is told so by an exception, which its caller gets
     * where it is not caught. {@link #isCalled} tells beforehand.
     *
     * @return the caller; never {@code null}
     * @throws AccessDeniedException where this thread performs no call of another process's
     */
    public static Caller caller() {
        Caller caller = Runtime.instance().caller();
        if (caller == null) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "nobody is known to call: this thread performs no call of another process's");
        }
        return caller;
    }

    /**
     * Whether this thread performs a call of another process's, whose {@link #caller} is known.
     *
     * @return false in a call that this process makes itself, and on threads that a method has do something
     */
    public static boolean isCalled() {
        return Runtime.instance().caller() != null;
    }

    /**
     * A reference to an object as bytes, an OBJREF, which can go any way to whoever unmarshals it: once. With obvia-native.
     *
     * <p>It leads to where this process listens, or, where it does not, to it on this host. It keeps the object until it is unmarshaled or released.
     *
     * @param <T> the interface
     * @param object the object, or a proxy
     * @param type the interface that it is a reference by
     * @return the bytes
     * @throws RpcException with E_NOINTERFACE where the object does not have it
     */
    public static <T> byte[] marshal(T object, Class<T> type) {
        return Runtime.instance().marshal(object, type);
    }

    /**
     * What such bytes lead to: a proxy, or the object itself. With obvia-native.
     *
     * @param <T> the interface
     * @param reference the bytes
     * @param type the interface that they are a reference by
     * @return the object
     * @throws RpcException with RPC_E_INVALID_OBJREF for bytes that are no reference, CO_E_OBJNOTCONNECTED for one that was unmarshaled or released
     */
    public static <T> T unmarshal(byte[] reference, Class<T> type) {
        return Runtime.instance().unmarshal(reference, type);
    }

    /**
     * Gives up bytes that are not going to be unmarshaled. With obvia-native.
     *
     * @param reference the bytes
     * @throws RpcException as for {@link #unmarshal}
     */
    public static void releaseMarshalData(byte[] reference) {
        Runtime.instance().releaseMarshalData(reference);
    }

    /**
     * The same object by another interface: COM's QueryInterface.
     *
     * @param <T> the interface
     * @param object the object, or a proxy
     * @param type the interface
     * @return the object, or another proxy of it
     * @throws RpcException with E_NOINTERFACE where the object does not have it
     */
    public static <T> T as(Object object, Class<T> type) {
        return Runtime.instance().as(object, type);
    }

    /**
     * Whether two references are to one object. What {@code equals} of an object's own class takes for the same does not count.
     *
     * @param one an object, a proxy, or {@code null}
     * @param other another
     * @return true for an object and itself, and for two proxies that lead to one object
     */
    public static boolean isSame(Object one, Object other) {
        return Runtime.instance().isSame(one, other);
    }

    /**
     * Gives a reference back at once. It cannot be used any more; those that nobody holds are given back by themselves.
     *
     * @param object a proxy; any other object is left alone
     */
    public static void release(Object object) {
        Runtime.instance().release(object);
    }

    /**
     * Does some work whose calls have to be done within a time; 30 seconds where nobody says otherwise.
     *
     * <p>It is so for what the work calls, and for what it forks and waits for: tasks of a {@code StructuredTaskScope}. In work that has less time left already, that counts. Calls that are
     * late throw a {@link CallTimeoutException}. Methods are told how long their callers wait, and what they call ends by then as well: see {@link #callerDeadline}.
     *
     * @param <R> what the work results in
     * @param <E> what the work throws; nothing but unchecked exceptions where it says nothing else
     * @param time the time; however long
     * @param work the work
     * @return what it results in
     * @throws E whatever the work throws
     */
    public static <R, E extends Throwable> R within(Duration time, ScopedValue.CallableOp<? extends R, E> work) throws E {
        return Runtime.instance().within(time, work);
    }

    /**
     * The same for work without result.
     *
     * @param time the time; however long
     * @param work the work
     */
    public static void within(Duration time, Runnable work) {
        Runtime.instance().within(time, () -> {
            work.run();
            return null;
        });
    }

    /**
     * By when the caller of the method that runs on this thread wants the answer. Calls that the method makes, and tasks that it forks make, end by then, whatever it says by
     * {@link #within(Duration, ScopedValue.CallableOp)}.
     *
     * <p>The moment is as the clock of this host has it now; {@code Duration.between(Instant.now(), deadline)} is the time that is left.
     *
     * @return the moment, which may be over; empty where the caller has not said so, and where this thread performs no call of another process's
     */
    public static Optional<Instant> callerDeadline() {
        return Runtime.instance().callerDeadline();
    }

    /**
     * Whether the caller of the method that runs on this thread no longer waits for it: its time is over, its thread was interrupted, or its process has ended. Methods are not
     * interrupted: those that take long look now and then.
     *
     * @return false in a call that this process makes itself, and on threads that a method has do something
     */
    public static boolean isCancelled() {
        return Runtime.instance().isCancelled();
    }

    /**
     * Does some work whose calls belong to a trace: what it calls, and what it forks and waits for. The methods that are called go on with it.
     *
     * @param <R> what the work results in
     * @param <E> what the work throws; nothing but unchecked exceptions where it says nothing else
     * @param trace the trace
     * @param work the work
     * @return what it results in
     * @throws E whatever the work throws
     */
    public static <R, E extends Throwable> R withTrace(Trace trace, ScopedValue.CallableOp<? extends R, E> work) throws E {
        return Runtime.instance().withTrace(requireNonNull(trace), work);
    }

    /**
     * The same for work without result.
     *
     * @param trace the trace
     * @param work the work
     */
    public static void withTrace(Trace trace, Runnable work) {
        Runtime.instance().withTrace(requireNonNull(trace), () -> {
            work.run();
            return null;
        });
    }

    /**
     * The trace that calls of this thread belong to: as {@link #withTrace(Trace, ScopedValue.CallableOp)} says, or else the caller of the method that runs on this thread.
     *
     * @return the trace; empty where nobody has said so
     */
    public static Optional<Trace> trace() {
        return Runtime.instance().trace();
    }

    /**
     * Memory that calls to other processes of this host pass by reference. It takes pages as they are touched: where the host has no more of them, touching it throws an
     * {@link InternalError}.
     *
     * @param bytes how many
     * @param access what others may do with it
     * @return the memory, to be closed
     * @throws RpcException with E_INVALIDARG for no bytes, or more than 64 TiB; E_OUTOFMEMORY where the host has no room
     */
    public static SharedMemory share(long bytes, SharedMemory.Access access) {
        return Runtime.instance().share(bytes, access);
    }

    /**
     * The connections that this process has now.
     *
     * @return how many there are
     */
    public static Connections connections() {
        return Runtime.instance().connections();
    }

    /**
     * How this process waits in connections that are made from now on; {@link Waiting#ADAPTIVE} unless told.
     *
     * @param waiting how
     */
    public static void setWaiting(Waiting waiting) {
        Runtime.instance().setWaiting(waiting);
    }
}
