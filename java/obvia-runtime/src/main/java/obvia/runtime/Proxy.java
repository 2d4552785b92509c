package obvia.runtime;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import obvia.Hresult;
import obvia.Remote;
import obvia.RpcException;

/** What stands for an object of another process: the compiler's proxies extend it. */
public abstract class Proxy implements Remote {
    private static final Cleaner CLEANER = Cleaner.create();
    /** The classes whose methods make calls. */
    private static final Set<String> CALLERS = ConcurrentHashMap.newKeySet();

    private final Way way;
    private final long oid;
    private final Reference.Owned owned;
    private final Cleaner.Cleanable cleanable;

    private final long target;

    /** A proxy, which gives the references back when it is let go. */
    // Nobody is told of it before it is done: what is registered runs when it is gone.
    @SuppressWarnings("this-escape")
    protected Proxy(Reference reference) {
        way = reference.way;
        target = reference.target;
        oid = reference.oid;
        owned = reference.owned;
        cleanable = CLEANER.register(this, owned);
        for (Class<?> type = getClass(); type != Proxy.class; type = type.getSuperclass()) {
            CALLERS.add(type.getName());
        }
    }

    /**
     * Whether a thread is in a method of some proxy's.
     *
     * <p>Looking stops the thread for a moment: what this thread has written before it sees afterwards. Classes that stack traces leave out, as hidden ones, cannot be proxies.
     */
    static boolean isCalling(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (CALLERS.contains(frame.getClassName())) {
                return true;
            }
        }
        return false;
    }

    /** A channel of this thread's, with the place for a request's frame of so many bytes. */
    protected final Channel begin(int length) {
        Channel channel = null;
        try {
            channel = way.channel();
            return channel.request(length);
        } catch (RuntimeException | Error e) {
            Sent.takeBackUnsent(way);
            if (channel != null) {
                channel.end();
            }
            throw e;
        }
    }

    /** Whether an array can go by reference: it lies in shared memory that its method may use so. */
    protected final boolean isShared(MemorySegment array, boolean isWritten) {
        return way.takesReferences() && OwnRegion.of(array, isWritten) != null;
    }

    /** Refuses to copy arrays of {@code map} parameters, where they could go by reference. */
    protected final void checkCopied() {
        if (way.takesReferences()) {
            String why = "the array of a [map] parameter does not lie in shared memory that its method may use";
            throw RpcException.of(Hresult.E_INVALIDARG, why);
        }
    }

    /** A channel of this thread's, with arguments' frame in its place. */
    protected final Channel begin(GraphWriter arguments) {
        int length;
        try {
            length = arguments.finish(this);
        } catch (RuntimeException | Error e) {
            Sent.takeBackUnsent(way);
            throw e;
        }
        Channel channel = begin(length);
        try {
            arguments.copyTo(channel.memory, channel.at);
        } catch (RuntimeException | Error e) {
            Sent.takeBackUnsent(way);
            channel.end();
            throw e;
        }
        channel.length = length;
        arguments.close();
        return channel;
    }

    /**
     * Publishes a request, and waits for the response.
     *
     * <p>Callers may have nothing but the result of a method in mind: {@code factory.make().add(1, 2)}. Until the response is there the collector does not take the proxy for one that
     * nobody has, which would give the reference back while the call is on its way.
     *
     * @param call the channel, with the arguments' frame in its place
     * @param opnum the method
     * @param length bytes of the request's frame: as many as were asked for, or fewer
     * @throws RpcException what the method returned where it failed, or why there are no results
     */
    protected final void call(Channel call, int opnum, int length) {
        try {
            call.call(target, opnum, length);
        } finally {
            java.lang.ref.Reference.reachabilityFence(this);
        }
    }

    /** Publishes a request as a call without response: see {@link #call}. */
    protected final void oneway(Channel call, int opnum, int length) {
        try {
            call.oneway(target, opnum, length);
        } finally {
            java.lang.ref.Reference.reachabilityFence(this);
        }
    }

    final Way way() {
        return way;
    }

    final long target() {
        return target;
    }

    final long oid() {
        return oid;
    }

    /** Throws where it was given back. */
    final void check() {
        if (owned.isReleased()) {
            throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the reference was given back");
        }
    }

    final void release() {
        cleanable.clean();
    }

    /** Whether another reference is to the same object. */
    @Override
    public final boolean equals(Object other) {
        return other instanceof Proxy proxy && proxy.oid == oid && proxy.way.oxid() == way.oxid();
    }

    @Override
    public final int hashCode() {
        return Long.hashCode(oid * 31 + way.oxid());
    }

    @Override
    public final String toString() {
        return getClass().getSimpleName() + "[object " + Long.toHexString(oid) + " of process " + Long.toHexString(way.oxid()) + "]";
    }
}
