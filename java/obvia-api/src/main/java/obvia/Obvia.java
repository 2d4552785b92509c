package obvia;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Exports objects, and binds objects of other processes. */
public final class Obvia {
    private Obvia() {}

    /**
     * Exports an object under a name to processes of this user on this host.
     *
     * <p>Several {@linkplain Threading#PLATFORM platform threads} call the object's methods
     * concurrently.
     *
     * @param <T> the interface
     * @param object the object; not {@code null}
     * @param type the first interface of the reference; clients may query for the other interfaces
     *     of the object's class
     * @param name the name
     * @return the export; closing it ends the export
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT if a live process serves the name,
     *     E_INVALIDARG if the name is invalid, E_NOTIMPL if the object is a proxy
     */
    public static <T> Export export(T object, Class<T> type, String name) {
        return export(object, type, name, Threading.PLATFORM);
    }

    /**
     * Exports an object under a name, to be called by threads of the given kind. Such threads also
     * call the objects that the methods of the object return.
     *
     * @param <T> the interface
     * @param object the object; not {@code null}
     * @param type the first interface of the reference; clients may query for the other interfaces
     *     of the object's class
     * @param name the name
     * @param threading the kind of threads
     * @return the export; closing it ends the export
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT if a live process serves the name,
     *     E_INVALIDARG if the name is invalid, E_NOTIMPL if the object is a proxy
     */
    public static <T> Export export(T object, Class<T> type, String name, Threading threading) {
        return ObviaRuntime.instance().export(object, type, name, threading);
    }

    /**
     * Returns the endpoint of this host. From the endpoint, programs get the objects that processes
     * of this host export. Calls of these objects go through shared memory.
     *
     * @return the endpoint; for an object of this process, the endpoint returns the object itself
     *     instead of a proxy
     */
    public static Endpoint connect() {
        return ObviaRuntime.instance().connect("");
    }

    /**
     * Returns the endpoint of this host as another process sees it: objects of this process are
     * reached through proxies as well.
     *
     * <p>A call of such a proxy goes through shared memory to a server thread, and its arguments
     * are marshaled. A test in a single process can thus observe the effect of the interface on
     * arguments, results and failures.
     *
     * @return the endpoint; an object that is an argument of a call arrives at the method as a
     *     proxy
     */
    public static Endpoint loopback() {
        return ObviaRuntime.instance().loopback();
    }

    /**
     * Returns the endpoint that a string binding names.
     *
     * @param binding {@code ncacn_vi_shm:} for this host; with obvia-native also
     *     {@code ncacn_vi_udp:host[port]}, {@code ncacn_ip_tcp:host[port]} and others
     * @return the endpoint
     * @throws RpcException with E_INVALIDARG if no module supports the protocol sequence
     */
    public static Endpoint connect(String binding) {
        return ObviaRuntime.instance().connect(binding);
    }

    /**
     * Returns the endpoint that a string binding names, with other credentials than those of
     * {@link #setCredentials}. The endpoint and its connections keep the credentials.
     *
     * @param binding with obvia-native, a binding that asks for security:
     *     {@code ncacn_ip_tcp:host[port,security=privacy]}
     * @param credentials the credentials
     * @return the endpoint
     * @throws RpcException with E_INVALIDARG if no module supports the protocol sequence
     */
    public static Endpoint connect(String binding, Credentials credentials) {
        return ObviaRuntime.instance().connect(binding, credentials);
    }

    /**
     * Accepts connections from other hosts to all present and later exports of this process.
     * Requires obvia-native.
     *
     * @param binding a string binding, such as {@code ncacn_vi_udp:0.0.0.0[5555]}; if it has no
     *     endpoint, a free endpoint is chosen
     * @return the binding with its actual endpoint
     * @throws RpcException with RPC_S_DUPLICATE_ENDPOINT if the endpoint is in use; E_INVALIDARG if
     *     the string binding is malformed or no module supports its protocol sequence
     */
    public static String listen(String binding) {
        return ObviaRuntime.instance().listen(binding);
    }

    /**
     * Binds the object that a process of this host exports under a name: {@link #connect()}, then
     * {@link Endpoint#bind}.
     *
     * @param <T> the interface
     * @param type the interface of the returned reference
     * @param name the name
     * @return a proxy, or the object itself if this process exports it
     * @throws RpcException as for {@link Endpoint#bind}
     */
    public static <T> T bind(Class<T> type, String name) {
        return connect().bind(type, name);
    }

    /**
     * Registers a class whose objects this process creates for clients (CoRegisterClassObject): for
     * processes of this user on this host, and for clients that connect to an endpoint on which
     * this process {@linkplain #listen listens}.
     *
     * <p>If several processes of a user register a class, clients on this host get objects of the
     * process that registered the class first.
     *
     * @param <T> the interface
     * @param classId the CLSID of the class
     * @param type the interface of the objects; clients may query for the other interfaces of the
     *     objects' class
     * @param make the factory; any thread calls it
     * @return the registration; closing it revokes the class
     * @throws RpcException with E_INVALIDARG if the class is already registered
     */
    public static <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make) {
        return registerClass(classId, type, make, null);
    }

    /**
     * Registers a class together with its class object, which clients get by CoGetClassObject.
     *
     * @param <T> the interface
     * @param classId the CLSID of the class
     * @param type the interface of the objects; clients may query for the other interfaces of the
     *     objects' class
     * @param make the factory; any thread calls it
     * @param classObject the class object, or {@code null}
     * @return the registration; closing it revokes the class
     * @throws RpcException with E_INVALIDARG if the class is already registered
     */
    public static <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make, Object classObject) {
        return ObviaRuntime.instance().registerClass(classId, type, make, classObject);
    }

    /**
     * Creates an object of a class (CoCreateInstanceEx): in this process if it has registered the
     * class, else in another process of this user on this host. {@code obvia scm} starts that
     * process if a registration names its program.
     *
     * @param <T> the interface
     * @param classId the CLSID of the class
     * @param type the interface of the returned reference
     * @return a proxy, or the object itself if this process has created it
     * @throws RpcException with REGDB_E_CLASSNOTREG if no process creates objects of the class,
     *     CO_E_SERVER_EXEC_FAILURE if the server could not be started, E_NOINTERFACE if the objects
     *     lack the interface
     */
    public static <T> T createInstance(Guid classId, Class<T> type) {
        return connect().createInstance(classId, type);
    }

    /**
     * Serves until this process has been idle for a period. The process is idle while no client
     * holds a reference to one of its objects or creates an object. If the SCM started the process,
     * an idle period in the class's registration takes precedence.
     *
     * <p>On return, all classes are revoked: the next activation starts a new server.
     *
     * @param idle the idle period
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public static void serveUntilIdle(Duration idle) throws InterruptedException {
        ObviaRuntime.instance().serveUntilIdle(idle);
    }

    /**
     * Sets the ping period of clients that are not obvia processes, and the number of consecutive
     * pings that may be lost. By default, the period is two minutes, and three consecutive pings
     * may be lost. Requires obvia-native.
     *
     * @param period the time between two pings
     * @param missed the number of pings
     */
    public static void setPinging(Duration period, int missed) {
        ObviaRuntime.instance().setPinging(period, missed);
    }

    /**
     * Sets the credentials of this process for later connections by bindings that ask for
     * {@code security}. Requires obvia-native.
     *
     * @param credentials the credentials
     */
    public static void setCredentials(Credentials credentials) {
        ObviaRuntime.instance().setCredentials(credentials);
    }

    /**
     * Sets the accounts that may call this process at endpoints on which it
     * {@linkplain #listen listens} with {@code security}: users and their passwords. Requires
     * obvia-native.
     *
     * <p>By default, the accounts come from the file that the variable {@code OBVIA_ACCOUNTS}
     * names.
     *
     * @param passwords the passwords by user
     */
    public static void setAccounts(Map<String, String> passwords) {
        ObviaRuntime.instance().setAccounts(passwords);
    }

    /**
     * Sets whether callers receive the message of an error or an unchecked exception that a method
     * throws. If not, callers receive only the exception's class. By default, callers receive
     * messages if this virtual machine has assertions enabled ({@code -enableassertions}), as in
     * tests. Processes of other users and of other hosts always receive only the class, because a
     * message can contain confidential values of this user. Every caller receives the messages of
     * checked exceptions and of {@link RpcException}.
     *
     * @param areTold whether callers receive the messages
     */
    public static void setExceptionTexts(boolean areTold) {
        ObviaRuntime.instance().setExceptionTexts(areTold);
    }

    /**
     * Sets the access rule of an object of this process: the callers outside of this process that
     * may call the object, by any of its interfaces. The rule applies from the next call on. Other
     * callers get E_ACCESSDENIED, also when they look up the name of the object. The rule takes
     * precedence over {@linkplain #setDefaultAccess the default rule}.
     *
     * <p>The rule keeps the object alive until {@link #clearAccess}.
     *
     * @param object the object
     * @param rule the rule
     * @throws RpcException with E_NOTIMPL if the object is a proxy
     */
    public static void setAccess(Object object, Access rule) {
        ObviaRuntime.instance().setAccess(requireNonNull(object), requireNonNull(rule));
    }

    /**
     * Removes the access rule that {@link #setAccess} has set for an object.
     *
     * @param object the object
     * @throws RpcException with E_NOTIMPL if the object is a proxy
     */
    public static void clearAccess(Object object) {
        ObviaRuntime.instance().setAccess(requireNonNull(object), null);
    }

    /**
     * Sets the access rule of objects of this process that have no
     * {@linkplain #setAccess rule of their own}, from the next call on.
     *
     * @param rule the rule
     */
    public static void setDefaultAccess(Access rule) {
        ObviaRuntime.instance().setAccess(null, requireNonNull(rule));
    }

    /**
     * Sets the access rule of a class: the callers that may create its objects in this process or
     * get its class object. The rule takes precedence over
     * {@linkplain #setDefaultClassAccess the default rule}.
     *
     * @param classId the CLSID of the class
     * @param rule the rule
     */
    public static void setClassAccess(Guid classId, Access rule) {
        ObviaRuntime.instance().setClassAccess(requireNonNull(classId), requireNonNull(rule));
    }

    /**
     * Sets the access rule of classes that have no {@linkplain #setClassAccess rule of their own}.
     * Without such a rule, {@linkplain #setDefaultAccess the default rule of objects} also applies
     * to classes.
     *
     * @param rule the rule
     */
    public static void setDefaultClassAccess(Access rule) {
        ObviaRuntime.instance().setClassAccess(null, requireNonNull(rule));
    }

    /**
     * Returns the caller of the method that runs on this thread.
     *
     * <p>On another thread, or in a method that this process calls itself, no caller is known. This
     * method then throws an exception. A method that does not catch the exception fails, so an
     * unknown caller has no rights by default. {@link #isCalled} says whether a caller is known.
     *
     * @return the caller; never {@code null}
     * @throws AccessDeniedException if this thread performs no call of another process
     */
    public static Caller caller() {
        Caller caller = ObviaRuntime.instance().caller();
        if (caller == null) {
            throw RpcException.of(Hresult.E_ACCESSDENIED, "the caller is unknown: this thread performs no call of another process");
        }
        return caller;
    }

    /**
     * Whether this thread performs a call of another process, so that the {@link #caller} is known.
     *
     * @return false in a call that this process makes itself, and on other threads that a method
     *     uses
     */
    public static boolean isCalled() {
        return ObviaRuntime.instance().caller() != null;
    }

    /**
     * Marshals a reference to an object as an OBJREF. Any process can unmarshal the OBJREF, but
     * only once. Requires obvia-native.
     *
     * <p>The OBJREF leads to an endpoint on which this process listens, or else to this process on
     * this host. The OBJREF keeps the object alive until it is unmarshaled or released.
     *
     * @param <T> the interface
     * @param object the object, or a proxy
     * @param type the interface of the reference
     * @return the OBJREF
     * @throws RpcException with E_NOINTERFACE if the object lacks the interface
     */
    public static <T> byte[] marshal(T object, Class<T> type) {
        return ObviaRuntime.instance().marshal(object, type);
    }

    /**
     * Unmarshals an OBJREF. Requires obvia-native.
     *
     * @param <T> the interface
     * @param reference the OBJREF
     * @param type the interface of the reference
     * @return a proxy, or the object itself if it belongs to this process
     * @throws RpcException with RPC_E_INVALID_OBJREF if the bytes are no OBJREF,
     *     CO_E_OBJNOTCONNECTED if the OBJREF was already unmarshaled or released
     */
    public static <T> T unmarshal(byte[] reference, Class<T> type) {
        return ObviaRuntime.instance().unmarshal(reference, type);
    }

    /**
     * Releases an OBJREF that will not be unmarshaled. Requires obvia-native.
     *
     * @param reference the OBJREF
     * @throws RpcException as for {@link #unmarshal}
     */
    public static void releaseMarshalData(byte[] reference) {
        ObviaRuntime.instance().releaseMarshalData(reference);
    }

    /**
     * Queries an object for another interface: COM's QueryInterface.
     *
     * @param <T> the interface
     * @param object the object, or a proxy
     * @param type the interface
     * @return the object, or a proxy of the same object
     * @throws RpcException with E_NOINTERFACE if the object lacks the interface
     */
    public static <T> T as(Object object, Class<T> type) {
        return ObviaRuntime.instance().as(object, type);
    }

    /**
     * Whether two references lead to the same object. The object's own {@code equals} does not
     * matter.
     *
     * @param one an object, a proxy, or {@code null}
     * @param other an object, a proxy, or {@code null}
     * @return true for an object and itself, and for two proxies of one object
     */
    public static boolean isSame(Object one, Object other) {
        return ObviaRuntime.instance().isSame(one, other);
    }

    /**
     * Releases a reference at once; the proxy cannot be used afterwards. Unreachable proxies are
     * released automatically.
     *
     * @param object a proxy; other objects are ignored
     */
    public static void release(Object object) {
        ObviaRuntime.instance().release(object);
    }

    /**
     * Performs work whose calls have a common deadline. By default, the deadline of a call is 30
     * seconds.
     *
     * <p>The deadline applies to the calls of the work and of the tasks that the work forks in a
     * {@code StructuredTaskScope}. An earlier deadline that is already in force takes precedence.
     * Calls that exceed the deadline throw a {@link CallTimeoutException}. The deadline is sent to
     * the callee and applies to its nested calls: see {@link #callerDeadline}.
     *
     * @param <R> the type of the work's result
     * @param <E> the type of the work's exception; only unchecked exceptions if the work declares
     *     none
     * @param time the time until the deadline, of any length
     * @param work the work
     * @return the work's result
     * @throws E the work's exception
     */
    public static <R, E extends Throwable> R within(Duration time, ScopedValue.CallableOp<? extends R, E> work) throws E {
        return ObviaRuntime.instance().within(time, work);
    }

    /**
     * Performs work without a result whose calls have a common deadline.
     *
     * @param time the time until the deadline, of any length
     * @param work the work
     */
    public static void within(Duration time, Runnable work) {
        ObviaRuntime.instance().within(time, () -> {
            work.run();
            return null;
        });
    }

    /**
     * Returns the deadline of the caller of the method that runs on this thread. The calls that the
     * method and its forked tasks make end by this deadline, even within work with a later
     * deadline: see {@link #within(Duration, ScopedValue.CallableOp)}.
     *
     * <p>The instant is computed from the present clock of this host:
     * {@code Duration.between(Instant.now(), deadline)} is the remaining time.
     *
     * @return the deadline, which may have expired; empty if the caller sent none, or if this
     *     thread performs no call of another process
     */
    public static Optional<Instant> callerDeadline() {
        return ObviaRuntime.instance().callerDeadline();
    }

    /**
     * Whether the caller of the method that runs on this thread has given up: the caller's deadline
     * has expired, its thread was interrupted, or its process has ended. Obvia does not interrupt
     * methods: a long method has to poll {@code isCancelled}.
     *
     * @return false in a call that this process makes itself, and on other threads that a method
     *     uses
     */
    public static boolean isCancelled() {
        return ObviaRuntime.instance().isCancelled();
    }

    /**
     * Performs work in a trace: the calls of the work and of the tasks that it forks belong to the
     * trace. The trace is propagated to the callees.
     *
     * @param <R> the type of the work's result
     * @param <E> the type of the work's exception; only unchecked exceptions if the work declares
     *     none
     * @param trace the trace
     * @param work the work
     * @return the work's result
     * @throws E the work's exception
     */
    public static <R, E extends Throwable> R withTrace(Trace trace, ScopedValue.CallableOp<? extends R, E> work) throws E {
        return ObviaRuntime.instance().withTrace(requireNonNull(trace), work);
    }

    /**
     * Performs work without a result whose calls belong to a trace.
     *
     * @param trace the trace
     * @param work the work
     */
    public static void withTrace(Trace trace, Runnable work) {
        ObviaRuntime.instance().withTrace(requireNonNull(trace), () -> {
            work.run();
            return null;
        });
    }

    /**
     * Returns the trace of this thread's calls: the trace of
     * {@link #withTrace(Trace, ScopedValue.CallableOp)}, or else the trace of the caller of the
     * method that runs on this thread.
     *
     * @return the trace; empty if there is none
     */
    public static Optional<Trace> trace() {
        return ObviaRuntime.instance().trace();
    }

    /**
     * Allocates memory that calls to other processes of this host pass by reference. A page is
     * allocated on the first access to it: if the host has no free page, the access throws an
     * {@link InternalError}.
     *
     * @param bytes the number of bytes
     * @param access the access that other processes get
     * @return the memory; the caller closes it
     * @throws RpcException with E_INVALIDARG for 0 bytes or more than 64 TiB; E_OUTOFMEMORY if the
     *     host has no room
     */
    public static SharedMemory share(long bytes, SharedMemory.Access access) {
        return ObviaRuntime.instance().share(bytes, access);
    }

    /**
     * Returns the numbers of this process's present connections.
     *
     * @return the numbers
     */
    public static Connections connections() {
        return ObviaRuntime.instance().connections();
    }

    /**
     * Sets how threads wait for messages on later connections; {@link Waiting#ADAPTIVE} by default.
     *
     * @param waiting the mode
     */
    public static void setWaiting(Waiting waiting) {
        ObviaRuntime.instance().setWaiting(waiting);
    }
}
