package obvia.spi;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.ClassRegistration;
import obvia.Connections;
import obvia.Credentials;
import obvia.Endpoint;
import obvia.Export;
import obvia.Guid;
import obvia.SharedMemory;
import obvia.Threading;
import obvia.Trace;
import obvia.Waiting;

/** The implementation of {@link obvia.Obvia}, found by {@link ServiceLoader}. */
public interface Runtime {
    /**
     * Returns the runtime of this process.
     *
     * @throws IllegalStateException if no runtime is on the module path or class path
     */
    static Runtime instance() {
        Runtime known = Holder.instance;
        return known != null ? known : Holder.find();
    }

    /** See {@link obvia.Obvia#export}. */
    <T> Export export(T object, Class<T> type, String name, Threading threading);

    /** See {@link obvia.Obvia#connect(String)}; an empty binding means this host. */
    Endpoint connect(String binding);

    /** See {@link obvia.Obvia#loopback}. */
    Endpoint loopback();

    /** See {@link obvia.Obvia#connect(String, Credentials)}. */
    Endpoint connect(String binding, Credentials credentials);

    /**
     * See {@link obvia.Obvia#registerClass(Guid, Class, Supplier, Object)}; the class object may be
     * {@code null}.
     */
    <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make, Object classObject);

    /** See {@link obvia.Obvia#serveUntilIdle}. */
    void serveUntilIdle(Duration idle) throws InterruptedException;

    /** See {@link obvia.Obvia#setPinging}. */
    void setPinging(Duration period, int missed);

    /** See {@link obvia.Obvia#setCredentials}. */
    void setCredentials(Credentials credentials);

    /** See {@link obvia.Obvia#setAccounts}. */
    void setAccounts(Map<String, String> passwords);

    /**
     * See {@link obvia.Obvia#setAccess}. A {@code null} object sets the default rule; a
     * {@code null} rule removes the object's rule.
     */
    void setAccess(Object object, Access rule);

    /** See {@link obvia.Obvia#setClassAccess}. A {@code null} class sets the default rule. */
    void setClassAccess(Guid classId, Access rule);

    /** See {@link obvia.Obvia#caller}; {@code null} where there is none. */
    Caller caller();

    /** See {@link obvia.Obvia#marshal}. */
    <T> byte[] marshal(T object, Class<T> type);

    /** See {@link obvia.Obvia#unmarshal}. */
    <T> T unmarshal(byte[] reference, Class<T> type);

    /** See {@link obvia.Obvia#releaseMarshalData}. */
    void releaseMarshalData(byte[] reference);

    /** See {@link obvia.Obvia#listen}. */
    String listen(String binding);

    /** See {@link obvia.Obvia#as}. */
    <T> T as(Object object, Class<T> type);

    /** See {@link obvia.Obvia#release}. */
    void release(Object object);

    /** See {@link obvia.Obvia#isSame}. */
    boolean isSame(Object one, Object other);

    /** See {@link obvia.Obvia#within(Duration, ScopedValue.CallableOp)}. */
    <R, E extends Throwable> R within(Duration time, ScopedValue.CallableOp<? extends R, E> work) throws E;

    /** See {@link obvia.Obvia#setExceptionTexts}. */
    void setExceptionTexts(boolean areTold);

    /** See {@link obvia.Obvia#isCancelled}. */
    boolean isCancelled();

    /** See {@link obvia.Obvia#callerDeadline}. */
    Optional<Instant> callerDeadline();

    /** See {@link obvia.Obvia#withTrace(Trace, ScopedValue.CallableOp)}. */
    <R, E extends Throwable> R withTrace(Trace trace, ScopedValue.CallableOp<? extends R, E> work) throws E;

    /** See {@link obvia.Obvia#trace}. */
    Optional<Trace> trace();

    /** See {@link obvia.Obvia#share}. */
    SharedMemory share(long bytes, SharedMemory.Access access);

    /** See {@link obvia.Obvia#connections}. */
    Connections connections();

    /** See {@link obvia.Obvia#setWaiting}. */
    void setWaiting(Waiting waiting);

    /** Caches the runtime. A failed lookup is not cached, so that a later one may succeed. */
    final class Holder {
        private static volatile Runtime instance;

        private Holder() {}

        private static synchronized Runtime find() {
            if (instance == null) {
                instance = Providers.first(Runtime.class, loader -> ServiceLoader.load(Runtime.class, loader));
            }
            if (instance == null) {
                throw new IllegalStateException("there is no obvia-runtime on the module path or class path");
            }
            return instance;
        }
    }
}
