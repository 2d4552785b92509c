package obvia.runtime;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import obvia.BadMessageException;
import obvia.Hresult;
import obvia.RpcException;

/** A client's connection as its server has it: takes calls, and has them performed, on a thread of its own. */
final class Connection implements Runnable {
    private static final Logger LOGGER = System.getLogger("obvia");

    private final ProcessRuntime runtime;
    private final Window window;
    private final InCall call;
    // The process that the client says it is; 0 as long as it has not.
    private long client;
    // The interface pointer that was called last, and when it was looked up, in removals.
    private Exports.Entry last;
    private int lastRemovals;

    Connection(ProcessRuntime runtime, Window window) {
        this.runtime = runtime;
        this.window = window;
        call = new InCall(window, this);
    }

    ProcessRuntime runtime() {
        return runtime;
    }

    long client() {
        return client;
    }

    /** Serves until the connection ends. */
    @Override
    public void run() {
        try {
            while (serve()) {
                // Until it ends.
            }
        } catch (RpcException | InternalError | IllegalStateException | IndexOutOfBoundsException e) {
            RpcException why = Window.failed(e);
            if (why.result() != Hresult.RPC_E_DISCONNECTED) {
                LOGGER.log(Level.WARNING, "a connection of process {0} ends: {1}", client, why.getMessage());
            }
        } finally {
            window.close();
            runtime.leave(client);
        }
    }

    private boolean serve() {
        // Whoever interrupted a method did not mean what comes after it.
        Thread.interrupted();
        try {
            // Asking for the time takes as long as a small method: that of a call will do, which is asked for when nothing comes.
            window.receive(null);
        } catch (RpcException e) {
            if (e.result() == Hresult.RPC_E_TIMEOUT || e.result() == Hresult.RPC_E_CALL_CANCELED) {
                forget();
                return true;
            }
            throw e;
        }
        switch (window.kind()) {
            case Window.REQUEST -> {
                // A caller has taken every earlier response before it calls again.
                window.takenAll();
                window.claim();
                answer(window.sequence(), window.target());
            }
            case Window.ONEWAY -> {
                perform(window.target());
                window.release();
            }
            case Window.PDU -> {
                window.takenAll();
                bind(Channel.bytes(window.frame, window.at, window.length));
            }
            // The call it names has been answered, or this thread would not be here.
            case Window.CANCEL -> window.release();
            default -> throw Line.broken("a message of kind " + window.kind());
        }
        return true;
    }

    private void answer(int callId, long target) {
        call.enter();
        int opnum = call.opnum;
        long answer = perform(target);
        boolean isFault = answer >>> 32 != 0;
        int result = (int) answer;
        boolean hasFrame = !isFault && result >= 0 && call.replyLength > 0;
        if (!hasFrame) {
            window.place(0);
        }
        long words = Integer.toUnsignedLong(result) | (long) callId << 32;
        window.publish(isFault ? Window.FAULT : Window.RESPONSE, opnum, words, hasFrame ? call.replyLength : 0);
    }

    private static final long FAULT = 1L << 32;

    /** What the method returned, or a fault's status with a bit above it. */
    private long perform(long target) {
        try {
            if (target == 0 && client != 0) {
                RuntimeCalls.serve(call);
            } else {
                Exports.Entry entry = find(target);
                if (entry == null) {
                    return FAULT | Integer.toUnsignedLong(client == 0 ? Fault.PROTOCOL_ERROR : Fault.OBJECT_NOT_FOUND);
                }
                entry.perform(call);
            }
            return Integer.toUnsignedLong(call.result);
        } catch (InCall.NoMethod e) {
            return FAULT | Fault.OP_RANGE;
        } catch (BadMessageException e) {
            return FAULT | Fault.BAD_STUB_DATA;
        } catch (RpcException e) {
            return Integer.toUnsignedLong(e.result() < 0 ? e.result() : Hresult.E_FAIL);
        } catch (InternalError e) {
            // The caller's memory is gone.
            throw e;
        } catch (OutOfMemoryError e) {
            return Integer.toUnsignedLong(Hresult.E_OUTOFMEMORY);
        } catch (Throwable e) {
            return failed(e);
        }
    }

    private static long failed(Throwable why) {
        LOGGER.log(Level.WARNING, "a method failed in a way that its caller cannot be told", why);
        return Integer.toUnsignedLong(Hresult.RPC_E_SERVERFAULT);
    }

    private Exports.Entry find(long target) {
        Exports.Entry entry = last;
        int removals = runtime.exports().removals();
        if (entry != null && entry.target() == target && lastRemovals == removals) {
            return entry;
        }
        entry = client == 0 ? null : runtime.exports().find(target);
        last = entry;
        lastRemovals = removals;
        return entry;
    }

    /** Keeps nobody's object alive while nothing is called. */
    private void forget() {
        last = null;
    }

    private void bind(byte[] unit) {
        Bind.Answer answer = Bind.answer(unit, runtime.oxid());
        if (answer.client() != 0 && client == 0) {
            client = answer.client();
            runtime.enter(client);
        } else if (client == 0 || answer.client() != 0 && answer.client() != client) {
            // Who has said who it is does not become somebody else; who has not may not go on.
            throw Line.broken("it does not say who it is");
        }
        long at = window.place(answer.unit().length);
        MemorySegment.copy(MemorySegment.ofArray(answer.unit()), 0, window.memory(), at, answer.unit().length);
        window.publish(Window.PDU, 0, 0, answer.unit().length);
    }
}
