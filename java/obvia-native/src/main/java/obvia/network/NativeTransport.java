package obvia.network;

import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.LongFunction;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;
import obvia.runtime.Channel;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Interfaces;
import obvia.runtime.Transport;

/**
 * The transport to all objects that the library reaches: the library finds the connection of an
 * object.
 */
final class NativeTransport extends Transport {
    static final NativeTransport INSTANCE = new NativeTransport();

    private final ConcurrentLinkedDeque<NativeChannel> idle = new ConcurrentLinkedDeque<>();
    private final Map<Guid, Long> described = new ConcurrentHashMap<>();

    private NativeTransport() {}

    static long time() {
        return timeLeft();
    }

    /**
     * Returns the library's number of an interface. The first use of the interface registers all
     * interfaces of its IDL file.
     */
    long describe(InterfaceInfo<?> info) {
        Long known = described.get(info.iid());
        if (known == null) {
            known = Functions.describe(info);
            described.put(info.iid(), known);
            info.module().get().stream().filter(other -> !described.containsKey(other.iid())).forEach(this::describeOther);
        }
        return known;
    }

    private void describeOther(InterfaceInfo<?> info) {
        try {
            described.put(info.iid(), Functions.describe(info));
        } catch (RpcException e) {
            System.getLogger("obvia").log(Level.WARNING, "objects cannot be queried for {0} over networks: {1}", info.name(), e.getMessage());
        }
    }

    @Override
    protected Channel channel() {
        NativeChannel channel = idle.poll();
        return (channel != null ? channel : new NativeChannel(this)).take();
    }

    void giveBack(NativeChannel channel) {
        idle.push(channel);
    }

    @Override
    protected long oxid() {
        // No process of this host has OXID 0. The OIDs of this transport are the library's
        // identities, which are unique without an OXID.
        return 0;
    }

    @Override
    protected byte[] reference(long through, Object object, InterfaceInfo<?> info) {
        if (through == 0) {
            return referenceOf(through, object, info);
        }
        try {
            byte[] reference = referenceOf(through, object, info);
            SentReferences.add(through, reference);
            return reference;
        } catch (RuntimeException | Error e) {
            takeBackUnsent();
            throw e;
        }
    }

    private byte[] referenceOf(long through, Object object, InterfaceInfo<?> info) {
        long known = describe(info);
        return withHandle(object, handle -> Limit.run(timeLeft(), limit -> Functions.reference(through, handle, known, limit)));
    }

    @Override
    protected void takeBackUnsent() {
        SentReferences.takeBackUnsent();
    }

    /** Marshals a reference as an OBJREF. */
    byte[] marshal(Object object, InterfaceInfo<?> info, boolean isForOthers) {
        long known = describe(info);
        return withHandle(object, handle -> Limit.run(timeLeft(), limit -> Functions.marshal(handle, known, isForOthers, limit)));
    }

    /** Runs a function with the handle of a proxy or of an object of this process. */
    private byte[] withHandle(Object object, LongFunction<byte[]> work) {
        long proxy = targetOf(object);
        if (proxy != 0) {
            try {
                return work.apply(proxy);
            } finally {
                java.lang.ref.Reference.reachabilityFence(object);
            }
        }
        long own = Objects.wrap(object);
        try {
            return work.apply(own);
        } finally {
            Functions.release(own);
        }
    }

    @Override
    protected <T> T object(long through, byte[] reference, InterfaceInfo<T> info) {
        long known;
        try {
            known = describe(info);
        } catch (RuntimeException | Error e) {
            giveBack(through, reference);
            throw e;
        }
        return found(adopt(through, reference, known), info);
    }

    private static Functions.Found adopt(long through, byte[] reference, long known) {
        return Limit.run(timeLeft(), limit -> Functions.adopt(through, reference, known, limit));
    }

    /**
     * Gives a reference back: unmarshals it as a reference to IUnknown, and releases the result.
     */
    private void giveBack(long through, byte[] reference) {
        try {
            Functions.release(adopt(through, reference, describe(Interfaces.find(Guid.IUNKNOWN))).handle());
        } catch (RuntimeException e) {
            // The caller reports an earlier failure.
        }
    }

    @Override
    protected <T> T query(long through, long oid, InterfaceInfo<T> info) {
        long known = describe(info);
        Functions.Found found = Limit.run(timeLeft(), limit -> Functions.query(through, known, limit));
        return proxy(info, found.handle(), oid, 1);
    }

    @Override
    protected void releaseLater(long target, int refs) {
        Functions.release(target);
    }

    /** Returns a proxy of the object that was found, or the object itself. */
    <T> T found(Functions.Found found, InterfaceInfo<T> info) {
        if (found.number() == 0) {
            return proxy(info, found.handle(), found.identity(), 1);
        }
        Object own;
        try {
            own = Objects.get(found.number());
        } finally {
            // Up to this point, the handle keeps the object alive: all other references may have
            // been released.
            Functions.release(found.handle());
        }
        if (!info.type().isInstance(own)) {
            throw RpcException.of(Hresult.RPC_E_INVALID_OBJREF, "the reference leads to an object without the requested interface");
        }
        return info.type().cast(own);
    }
}
