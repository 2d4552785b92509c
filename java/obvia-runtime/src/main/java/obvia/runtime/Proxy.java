package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/** The local representative of an object in another process: the base of the compiler's proxies. */
public abstract class Proxy implements Remote {
    /** The classes whose methods make calls. */
    private static final Set<String> CALLERS = ConcurrentHashMap.newKeySet();

    private final Transport transport;
    private final long target;
    private final Reference reference;

    /** Creates a proxy, which releases its references when it is collected. */
    // The cleaner does not run the action before the constructor returns, so `this` may escape.
    @SuppressWarnings("this-escape")
    protected Proxy(Reference reference) {
        this.reference = reference;
        transport = reference.transport();
        target = reference.target();
        reference.releaseWith(this);
        for (Class<?> type = getClass(); type != Proxy.class; type = type.getSuperclass()) {
            CALLERS.add(type.getName());
        }
    }

    /**
     * Whether a thread is in a method of a proxy.
     *
     * <p>Taking the stack trace stops that thread for a moment. Afterwards the calling thread sees
     * everything that the stopped thread wrote before. Hidden classes are missing in stack traces
     * and therefore cannot be proxies.
     */
    static boolean isCalling(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (CALLERS.contains(frame.getClassName())) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns a channel of this thread, with room for a request's frame of {@code length} bytes.
     */
    protected final Channel begin(int length) {
        Channel channel = null;
        try {
            channel = transport.channel();
            return channel.request(length);
        } catch (RuntimeException | Error e) {
            transport.takeBackUnsent();
            if (channel != null) {
                channel.end();
            }
            throw e;
        }
    }

    /**
     * Whether an array can be passed by reference: it lies in shared memory with the access that
     * the method needs.
     */
    protected final boolean isShared(MemorySegment array, boolean isWritten) {
        return transport.isShared(array, isWritten);
    }

    /**
     * Throws an exception if the peer accepts arrays by reference, because then the array of a
     * {@code map} parameter must not be copied.
     */
    protected final void checkCopied() {
        if (transport.takesReferences()) {
            String why = "the array of a [map] parameter has to lie in shared memory that its method may use";
            throw RpcException.of(Hresult.E_INVALIDARG, why);
        }
    }

    /** Returns a channel of this thread with the arguments' frame in place. */
    protected final Channel begin(GraphWriter arguments) {
        int length;
        try {
            length = arguments.finish(this);
        } catch (RuntimeException | Error e) {
            transport.takeBackUnsent();
            throw e;
        }
        Channel channel = begin(length);
        try {
            arguments.copyTo(channel.memory, channel.at);
        } catch (InternalError | IllegalStateException e) {
            transport.takeBackUnsent();
            try {
                throw channel.failed(e);
            } finally {
                channel.end();
            }
        } catch (RuntimeException | Error e) {
            transport.takeBackUnsent();
            channel.end();
            throw e;
        }
        channel.length = length;
        arguments.close();
        return channel;
    }

    /**
     * Sends a request and waits for the response.
     *
     * <p>A caller may use the proxy for just one call: {@code factory.make().add(1, 2)}. The fence
     * keeps the proxy reachable until the response has arrived. Otherwise the collection of the
     * proxy could release the reference during the call.
     *
     * @param call the channel from {@link #begin}, with the arguments' frame in place
     * @param opnum the opnum
     * @param length the length of the request's frame in bytes, at most the allocated length
     * @throws RpcException with the HRESULT of the method if it failed, or with the reason why
     *     there are no results
     */
    protected final void call(Channel call, int opnum, int length) {
        checkOwn(call);
        try {
            call.call(target, opnum, length);
        } finally {
            java.lang.ref.Reference.reachabilityFence(this);
        }
    }

    /** Sends a request as a call without response: see {@link #call}. */
    protected final void oneway(Channel call, int opnum, int length) {
        checkOwn(call);
        try {
            call.oneway(target, opnum, length);
        } finally {
            java.lang.ref.Reference.reachabilityFence(this);
        }
    }

    /** Refuses a channel of another transport, where the interface pointer means another object. */
    private void checkOwn(Channel call) {
        if (call.transport != transport) {
            throw new IllegalArgumentException("the channel is not one of this proxy's transport");
        }
    }

    final Transport transport() {
        return transport;
    }

    final long target() {
        return target;
    }

    final Reference reference() {
        return reference;
    }

    /** Whether the other proxy leads to the same object. */
    @Override
    public final boolean equals(Object other) {
        return other instanceof Proxy proxy && proxy.reference.isSame(reference);
    }

    @Override
    public final int hashCode() {
        return reference.identity();
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + "[object " + Long.toHexString(reference.oid()) + " of process " + Long.toHexString(transport.oxid()) + "]";
    }
}
