package obvia.runtime;

import java.util.ArrayList;
import java.util.List;

/**
 * References that were counted for a peer and go with a call's arguments or results: they are taken back where they surely never arrive.
 *
 * <p>Where a request was sent and nobody knows what became of it, the peer may have them; then they stay until it ends. So do those that a third process counts.
 */
final class Sent {
    private static final ThreadLocal<Sent> OF_THREAD = new ThreadLocal<>();

    private final Link link;
    /** The channel that the call will be made on, and its number there; {@code null} for virtual threads, which have none yet. */
    private final WindowChannel channel;

    private int callId;
    private final List<Runnable> returns = new ArrayList<>();

    private Sent(Link link, WindowChannel channel) {
        this.link = link;
        this.channel = channel;
        callId = channel == null ? 0 : channel.window().nextSequence();
    }

    /** Those of the results of a call. */
    Sent() {
        this(null, null);
    }

    /** Those that go with the arguments of this thread's next call to a process. */
    static Sent with(Link link) {
        boolean isVirtual = Thread.currentThread().isVirtual();
        if (isVirtual) {
            // Nobody knows whether the references of a call were sent that did not end.
            link.forgetLost();
        }
        WindowChannel channel = isVirtual ? null : link.ownChannel();
        Sent sent = OF_THREAD.get();
        if (sent == null || sent.link != link || sent.channel != channel || !sent.isUnsent()) {
            sent = new Sent(link, channel);
            OF_THREAD.set(sent);
        }
        return sent;
    }

    /** Says how references are taken back. */
    void add(Runnable giveBack) {
        returns.add(giveBack);
    }

    /** Something else was sent on a channel, whose next number was this one, before the call. */
    static void renumber(WindowChannel channel, int before) {
        Sent sent = OF_THREAD.get();
        if (sent != null && sent.channel == channel && sent.callId == before) {
            sent.callId = channel.window().nextSequence();
        }
    }

    void takeBack() {
        returns.forEach(Runnable::run);
        returns.clear();
    }

    private boolean isUnsent() {
        return channel == null || channel.window().nextSequence() == callId;
    }

    /** A call of this thread's was never sent. */
    static void takeBackUnsent(Way way) {
        Sent sent = OF_THREAD.get();
        if (sent != null && sent.link == way && sent.isUnsent()) {
            sent.takeBack();
        }
    }

    /** The peer says that it has not looked at a call's arguments. */
    static void takeBackRefused(WindowChannel channel, int callId) {
        Sent sent = OF_THREAD.get();
        if (sent != null && (sent.channel == null || sent.channel == channel && sent.callId == callId)) {
            sent.takeBack();
        }
    }

    /** A virtual thread's call is over. */
    static void forget() {
        OF_THREAD.remove();
    }
}
