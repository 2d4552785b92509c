package obvia.spi;

import java.time.Duration;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
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
import obvia.Waiting;

/** What performs {@link obvia.Obvia}: found by {@link ServiceLoader}. */
public interface Runtime {
    /**
     * That of this process.
     *
     * @throws IllegalStateException where there is none
     */
    static Runtime instance() {
        return Holder.INSTANCE;
    }

    /** See {@link obvia.Obvia#export}. */
    <T> Export export(T object, Class<T> type, String name, Threading threading);

    /** See {@link obvia.Obvia#connect(String)}; empty for this host. */
    Endpoint connect(String binding);

    /** See {@link obvia.Obvia#connect(String, Credentials)}. */
    Endpoint connect(String binding, Credentials credentials);

    /** See {@link obvia.Obvia#registerClass(Guid, Class, Supplier, Object)}; the last one may be {@code null}. */
    <T> ClassRegistration registerClass(Guid classId, Class<T> type, Supplier<? extends T> make, Object classObject);

    /** See {@link obvia.Obvia#serveUntilIdle}. */
    void serveUntilIdle(Duration idle) throws InterruptedException;

    /** See {@link obvia.Obvia#setPinging}. */
    void setPinging(Duration period, int missed);

    /** See {@link obvia.Obvia#setCredentials}. */
    void setCredentials(Credentials credentials);

    /** See {@link obvia.Obvia#setAccounts}. */
    void setAccounts(Map<String, String> passwords);

    /** See {@link obvia.Obvia#setAccess}: of no object those without a rule, and no rule takes one back. */
    void setAccess(Object object, Access rule);

    /** See {@link obvia.Obvia#setClassAccess}: of no class those without a rule. */
    void setClassAccess(Guid classId, Access rule);

    /** See {@link obvia.Obvia#caller}. */
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

    /** See {@link obvia.Obvia#within}. */
    <R> R within(Duration time, Callable<R> work) throws Exception;

    /** See {@link obvia.Obvia#share}. */
    SharedMemory share(long bytes, SharedMemory.Access access);

    /** See {@link obvia.Obvia#connections}. */
    Connections connections();

    /** See {@link obvia.Obvia#setWaiting}. */
    void setWaiting(Waiting waiting);

    /** Finds it once. */
    final class Holder {
        private static final Runtime INSTANCE = ServiceLoader.load(Runtime.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("there is no obvia-runtime on the module path or class path"));

        private Holder() {}
    }
}
