package obvia.runtime;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.Credentials;
import obvia.Guid;

/** What has other protocol sequences than {@code ncacn_vi_shm}: found by {@link java.util.ServiceLoader} when one is first asked for. */
public interface Network {
    /**
     * The object that is exported by a name where a string binding leads.
     *
     * @param binding a string binding, of a protocol sequence that may be unknown
     * @param credentials what to show there, or {@code null} for those of {@link #setCredentials}
     */
    <T> T bind(String binding, Credentials credentials, InterfaceInfo<T> info, String name);

    /** A new object of a class, made where a string binding leads, or what stands for the class there. */
    <T> T create(String binding, Credentials credentials, Guid classId, InterfaceInfo<T> info, boolean wantsClass);

    /**
     * Lets processes of other hosts reach what is exported.
     *
     * @return the binding, with the endpoint that was taken
     */
    String listen(String binding);

    /** Exports an object to those who reach this process that way; what is returned ends it. */
    Runnable export(Object object, InterfaceInfo<?> info, String name);

    /**
     * Has those who reach this process that way make objects of a class; what is returned ends it.
     *
     * @param classObject what stands for the class, or {@code null}
     */
    Runnable registerClass(Guid classId, InterfaceInfo<?> info, Supplier<?> make, Object classObject);

    /** Has another object take the place of one, for all who refer to it. */
    void replace(Object former, Object object);

    /** How many interface pointers of objects of this process others refer to that way. */
    long held();

    /** See {@link obvia.Obvia#setPinging}. */
    void setPinging(Duration period, int missed);

    /** See {@link obvia.Obvia#setCredentials}. */
    void setCredentials(Credentials credentials);

    /** See {@link obvia.Obvia#setAccounts}. */
    void setAccounts(Map<String, String> passwords);

    /** See {@link obvia.spi.Runtime#setAccess}. */
    void setAccess(Object object, Access rule);

    /** See {@link obvia.spi.Runtime#setClassAccess}. */
    void setClassAccess(Guid classId, Access rule);

    /** Who called the method that this thread performs, or {@code null} where it did not come that way. */
    Caller caller();

    /** Whether its caller no longer waits for it: false where it did not come that way. */
    boolean isCancelled();

    /** See {@link obvia.Obvia#marshal}: for processes of other hosts as well, or of this one alone. */
    byte[] marshal(Object object, InterfaceInfo<?> info, boolean isForOthers);

    /** See {@link obvia.Obvia#unmarshal}. */
    <T> T unmarshal(byte[] reference, InterfaceInfo<T> info);

    /** See {@link obvia.Obvia#releaseMarshalData}. */
    void releaseMarshalData(byte[] reference);
}
