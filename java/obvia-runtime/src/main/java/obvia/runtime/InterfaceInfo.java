package obvia.runtime;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;

/**
 * An interface as the compiler describes it: one for each, in the class of its name and {@code Info}.
 *
 * @param type the interface
 * @param name its name in IDL
 * @param iid its IID
 * @param version its version: the major one in the lower half, the minor one in the upper
 * @param fingerprintHigh the first eight bytes of SHA-256 over its canonical text, as a big-endian number: both sides of a binding must have the same
 * @param fingerprintLow the other eight
 * @param base the interface that it extends; {@code null} for IUnknown
 * @param proxy makes a proxy
 * @param stub performs calls
 * @param idl its text in IDL, with the types that it uses
 * @param module every interface of the same IDL file and of those that it imports
 */
public record InterfaceInfo<T>(
        Class<T> type,
        String name,
        Guid iid,
        int version,
        long fingerprintHigh,
        long fingerprintLow,
        InterfaceInfo<?> base,
        Function<Reference, T> proxy,
        Stub<T> stub,
        String idl,
        Supplier<List<InterfaceInfo<?>>> module) {
    /**
     * Performs calls of an interface's methods.
     *
     * @param <T> the interface
     */
    @FunctionalInterface
    public interface Stub<T> {
        /**
         * Performs one call: reads and checks the arguments, calls the method, and writes the results.
         *
         * <p>What it throws becomes the answer: an {@link obvia.RpcException} its HRESULT, a {@link obvia.BadMessageException} a fault.
         *
         * @throws Throwable whatever the method throws
         */
        void perform(T object, InCall call) throws Throwable;
    }

    /** Throws E_NOINTERFACE where an object does not have the interface. */
    void check(Object object) {
        if (!type.isInstance(object)) {
            throw RpcException.of(Hresult.E_NOINTERFACE, "an object of " + object.getClass().getName() + " does not have interface " + this);
        }
    }

    /** Its name and its IID. */
    @Override
    public String toString() {
        return name + " {" + iid + "}";
    }

    /**
     * That of an interface which the compiler has made.
     *
     * @throws IllegalArgumentException where it has not
     */
    public static <T> InterfaceInfo<T> of(Class<T> type) {
        return Known.of(type);
    }
}
