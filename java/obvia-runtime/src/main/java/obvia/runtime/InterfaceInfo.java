package obvia.runtime;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import obvia.Guid;
import obvia.RpcException;

/**
 * The compiler's description of an interface. The class {@code ICalcInfo} contains the description
 * of {@code ICalc}.
 *
 * @param type the interface
 * @param name the name in IDL
 * @param iid the IID
 * @param version the version: the major number in the lower half, the minor number in the upper
 *     half
 * @param fingerprintHigh the first eight bytes of the SHA-256 of the canonical text as a big-endian
 *     number; both sides of a binding must have the same fingerprint
 * @param fingerprintLow the next eight bytes
 * @param base the base interface; {@code null} for IUnknown
 * @param proxy the factory of proxies
 * @param stub the stub
 * @param idl the interface in IDL, with the types that it uses
 * @param module all interfaces of the same IDL file and of the files that it imports
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
         * Performs a call: reads and verifies the arguments, calls the method, and writes the
         * results.
         *
         * <p>An exception determines the answer: the HRESULT of an {@link obvia.RpcException}, a
         * fault for a {@link obvia.BadMessageException}; see {@link InCall#answer}.
         *
         * @throws Throwable the method's exception
         */
        void perform(T object, InCall call) throws Throwable;
    }

    /** Returns the name and the IID. */
    @Override
    public String toString() {
        return name + " {" + iid + "}";
    }

    /**
     * Returns the compiler's description of an interface.
     *
     * @throws IllegalArgumentException if there is no accessible description
     */
    public static <T> InterfaceInfo<T> of(Class<T> type) {
        return Interfaces.of(type);
    }
}
