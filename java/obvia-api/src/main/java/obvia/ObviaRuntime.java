package obvia;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Supplier;
import obvia.spi.Providers;

/**
 * The implementation of {@link Obvia}, found by {@link ServiceLoader}. Programs call {@code Obvia}.
 */
@SuppressWarnings("doclint:missing")
public interface ObviaRuntime {
    /**
     * Returns the runtime of this process.
     *
     * @throws IllegalStateException if no runtime is on the module path or class path
     */
    static ObviaRuntime instance() {
        ObviaRuntime known = Holder.instance;
        return known != null ? known : Holder.find();
    }

    /** See {@link Obvia#export}. */
    <T> Export export(T object, Class<T> type, String name, Threading threading);

    /** See {@link Obvia#connect(String)}; an empty binding means this host. */
    Endpoint connect(String binding);

    /** See {@link Obvia#loopback}. */
    Endpoint loopback();

    /** See {@link Obvia#connect(String, Credentials)}. */
    Endpoint connect(String binding, Credentials credentials);

    /**
     * See {@link Obvia#registerClass(Guid, Class, Supplier, Object)}; the class object may be
     * {@code null}.
     */
    <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make, Object classObject);

    /** See {@link Obvia#serveUntilIdle}. */
    void serveUntilIdle(Duration idle) throws InterruptedException;

    /** See {@link Obvia#setPinging}. */
    void setPinging(Duration period, int missed);

    /** See {@link Obvia#setCredentials}. */
    void setCredentials(Credentials credentials);

    /** See {@link Obvia#setAccounts}. */
    void setAccounts(Map<String, String> passwords);

    /**
     * See {@link Obvia#setAccess}. A {@code null} object sets the default rule; a
     * {@code null} rule removes the object's rule.
     */
    void setAccess(Object object, Access rule);

    /** See {@link Obvia#setClassAccess}. A {@code null} class sets the default rule. */
    void setClassAccess(Guid classId, Access rule);

    /** See {@link Obvia#caller}; {@code null} if the caller is unknown. */
    Caller caller();

    /** See {@link Obvia#marshal}. */
    <T> byte[] marshal(T object, Class<T> type);

    /** See {@link Obvia#unmarshal}. */
    <T> T unmarshal(byte[] reference, Class<T> type);

    /** See {@link Obvia#releaseMarshalData}. */
    void releaseMarshalData(byte[] reference);

    /** See {@link Obvia#listen}. */
    String listen(String binding);

    /** See {@link Obvia#as}. */
    <T> T as(Object object, Class<T> type);

    /** See {@link Obvia#release}. */
    void release(Object object);

    /** See {@link Obvia#isSame}. */
    boolean isSame(Object one, Object other);

    /** See {@link Obvia#within(Duration, ScopedValue.CallableOp)}. */
    <R, E extends Throwable> R within(Duration time, ScopedValue.CallableOp<? extends R, E> work) throws E;

    /** See {@link Obvia#setExceptionTexts}. */
    void setExceptionTexts(boolean areTold);

    /** See {@link Obvia#isCancelled}. */
    boolean isCancelled();

    /** See {@link Obvia#callerDeadline}. */
    Optional<Instant> callerDeadline();

    /** See {@link Obvia#withTrace(Trace, ScopedValue.CallableOp)}. */
    <R, E extends Throwable> R withTrace(Trace trace, ScopedValue.CallableOp<? extends R, E> work) throws E;

    /** See {@link Obvia#trace}. */
    Optional<Trace> trace();

    /** See {@link Obvia#share}. */
    SharedMemory share(long bytes, SharedMemory.Access access);

    /** See {@link Obvia#connections}. */
    Connections connections();

    /** See {@link Obvia#setWaiting}. */
    void setWaiting(Waiting waiting);

    /** Caches the runtime. A failed lookup is not cached, so that a later lookup can succeed. */
    final class Holder {
        private static volatile ObviaRuntime instance;

        private Holder() {}

        private static synchronized ObviaRuntime find() {
            if (instance == null) {
                instance = Providers.first(ObviaRuntime.class, loader -> ServiceLoader.load(ObviaRuntime.class, loader));
            }
            if (instance == null) {
                throw new IllegalStateException("there is no obvia-runtime on the module path or class path");
            }
            return instance;
        }
    }
}
