package obvia.runtime.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import obvia.runtime.InterfaceInfo;
import obvia.runtime.Proxy;

/**
 * References that were counted for a peer and are sent with a call's arguments or results. This
 * process takes them back if it is certain that the peer never receives them.
 *
 * <p>If it is unknown whether the peer has received a sent request, the peer may have the
 * references. The references then stay until the peer ends. References that a third process counts
 * also stay.
 */
final class SentReferences {
    private static final ThreadLocal<SentReferences> OF_THREAD = new ThreadLocal<>();

    private final Link link;
    /**
     * The channel of the upcoming call, and the call's number on that channel. The channel is
     * {@code null} for results, and for virtual threads, which have no channel yet.
     */
    private final WindowChannel channel;

    private int callId;
    private final List<Runnable> returns = new ArrayList<>();
    /** The references to objects of this process. */
    private final List<RuntimeCalls.CountedReference> own = new ArrayList<>();

    private SentReferences(Link link, WindowChannel channel) {
        this.link = link;
        this.channel = channel;
        callId = channel == null ? 0 : channel.window().nextSequence();
    }

    /** Creates the record of a call's results. */
    SentReferences() {
        this(null, null);
    }

    /** Returns the record for the arguments of this thread's next call to a process. */
    static SentReferences with(Link link) {
        boolean isVirtual = Thread.currentThread().isVirtual();
        if (isVirtual) {
            // An exception may have interrupted an earlier call of this thread. It is unknown
            // whether that call has sent its references, so the record of the references is
            // dropped.
            link.forgetLost();
        }
        WindowChannel channel = isVirtual ? null : link.ownChannel();
        SentReferences sent = OF_THREAD.get();
        if (sent == null || sent.link != link || sent.channel != channel || !sent.isUnsent()) {
            sent = new SentReferences(link, channel);
            OF_THREAD.set(sent);
        }
        if (channel != null) {
            channel.hasReferences = true;
        }
        return sent;
    }

    /**
     * Marshals a reference for another process of this host.
     *
     * @param to the OXID of the process
     * @param isVirtual whether virtual threads call the methods of an object that is new to peers
     */
    byte[] marshal(ProcessRuntime runtime, long to, Object object, InterfaceInfo<?> info, boolean isVirtual) {
        // Calls of objects that are reached over a network go through this process.
        if (!(object instanceof Proxy proxy) || !(Link.of(proxy) instanceof Link home)) {
            Supplier<ObjRef> count = () -> runtime.marshalOwn(object, info, to, isVirtual);
            ObjRef reference = link == null ? count.get() : runtime.clients().give(to, count);
            addOwn(runtime.exports(), to, reference);
            return reference.toBytes();
        }
        int refs = RuntimeCalls.REFS_PER_QUERY;
        long target;
        try {
            target = RuntimeClient.query(home, home.target(proxy), info);
        } finally {
            java.lang.ref.Reference.reachabilityFence(proxy);
        }
        if (home.oxid() == to) {
            returns.add(() -> home.giveBack(target, refs));
        } else {
            // The object's process counts the references for the receiver, and this process
            // releases its own references.
            try {
                RuntimeClient.transfer(home, target, to, refs);
            } finally {
                home.giveBack(target, refs);
            }
        }
        return new ObjRef(info.iid(), refs, home.oxid(), Link.oid(proxy), target, List.of(ObjRef.endpoint(home.oxid()))).toBytes();
    }

    private void addOwn(Exports exports, long client, ObjRef reference) {
        returns.add(() -> exports.release(client, reference.target(), reference.refs()));
        own.add(new RuntimeCalls.CountedReference(reference.target(), reference.refs()));
    }

    /**
     * Removes and returns the references to objects of this process in the one-way call with this
     * number.
     */
    static List<RuntimeCalls.CountedReference> takeOwn(WindowChannel channel, int callId) {
        SentReferences sent = OF_THREAD.get();
        if (sent == null || !sent.isOf(channel, callId)) {
            return List.of();
        }
        List<RuntimeCalls.CountedReference> own = List.copyOf(sent.own);
        sent.own.clear();
        return own;
    }

    /**
     * Whether this is the record of the call with this number on the channel. A virtual thread has
     * only one record, which always belongs to its current call.
     */
    private boolean isOf(WindowChannel channel, int callId) {
        return this.channel == null || this.channel == channel && this.callId == callId;
    }

    /** Adjusts the call's number after another message was sent with that number on the channel. */
    static void renumber(WindowChannel channel, int before) {
        SentReferences sent = OF_THREAD.get();
        if (sent != null && sent.channel == channel && sent.callId == before) {
            sent.callId = channel.window().nextSequence();
        }
    }

    void takeBack() {
        returns.forEach(Runnable::run);
        returns.clear();
        own.clear();
    }

    private boolean isUnsent() {
        return channel == null || channel.window().nextSequence() == callId;
    }

    /** Takes back the references of a call of this thread that was never sent. */
    static void takeBackUnsent(Link link) {
        SentReferences sent = OF_THREAD.get();
        if (sent != null && sent.link == link && sent.isUnsent()) {
            sent.takeBack();
        }
    }

    /** Takes back the references of a call whose arguments the peer has not read. */
    static void takeBackRefused(WindowChannel channel, int callId) {
        SentReferences sent = OF_THREAD.get();
        if (sent != null && sent.isOf(channel, callId)) {
            sent.takeBack();
        }
    }

    /** Drops the record of this virtual thread, whose call has ended. */
    static void forget() {
        OF_THREAD.remove();
    }
}
