package obvia.runtime;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;
import obvia.Access;
import obvia.Caller;
import obvia.Credentials;
import obvia.Guid;

/**
 * The implementation of the protocol sequences other than {@code ncacn_vi_shm}.
 * {@link java.util.ServiceLoader} finds the implementation on the first use.
 */
public interface Network {
    /**
     * Binds the object that is exported under a name at the endpoint of a string binding.
     *
     * @param binding a string binding, possibly with a protocol sequence that the network does not
     *     support
     * @param credentials the credentials, or {@code null} for those of {@link #setCredentials}
     */
    <T> T bind(String binding, Credentials credentials, InterfaceInfo<T> info, String name);

    /**
     * Creates an object of a class at the endpoint of a string binding, or returns the class object
     * if {@code wantsClass}.
     */
    <T> T create(String binding, Credentials credentials, Guid classId, InterfaceInfo<T> info, boolean wantsClass);

    /**
     * Accepts connections from other hosts to the exports of this process.
     *
     * @return the binding with its actual endpoint
     */
    String listen(String binding);

    /** Exports an object to clients of the network; the returned action ends the export. */
    Runnable export(Object object, InterfaceInfo<?> info, String name);

    /**
     * Registers a class for clients of the network; the returned action revokes it.
     *
     * @param classObject the class object, or {@code null}
     */
    Runnable registerClass(Guid classId, InterfaceInfo<?> info, Supplier<?> make, Object classObject);

    /**
     * Replaces an object for all existing references, or throws and changes nothing. A rule of the
     * former object also applies to the new one, unless that has a rule of its own.
     */
    void replace(Object former, Object object);

    /**
     * Returns the number of this process's interface pointers to which clients of the network hold
     * references.
     */
    long held();

    /** See {@link obvia.Obvia#setPinging}. */
    void setPinging(Duration period, int missed);

    /** See {@link obvia.Obvia#setCredentials}. */
    void setCredentials(Credentials credentials);

    /** See {@link obvia.Obvia#setAccounts}. */
    void setAccounts(Map<String, String> passwords);

    /** See {@link obvia.ObviaRuntime#setAccess}. */
    void setAccess(Object object, Access rule);

    /** See {@link obvia.ObviaRuntime#setClassAccess}. */
    void setClassAccess(Guid classId, Access rule);

    /**
     * Returns the caller of the method that this thread performs, or {@code null} if the call did
     * not come over the network.
     */
    Caller caller();

    /**
     * Whether the caller of this thread's method has given up; false if the call did not come over
     * the network.
     */
    boolean isCancelled();

    /**
     * See {@link obvia.Obvia#marshal}. Unless {@code isForOthers} is set, only processes of this
     * host can unmarshal the reference.
     */
    byte[] marshal(Object object, InterfaceInfo<?> info, boolean isForOthers);

    /** See {@link obvia.Obvia#unmarshal}. */
    <T> T unmarshal(byte[] reference, InterfaceInfo<T> info);

    /** See {@link obvia.Obvia#releaseMarshalData}. */
    void releaseMarshalData(byte[] reference);
}
