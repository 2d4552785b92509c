package obvia.runtime.objects;

import obvia.Endpoint;
import obvia.Guid;
import obvia.Hresult;
import obvia.RpcException;

/**
 * An endpoint that can be closed. References that the endpoint has returned stay usable, because
 * they have connections of their own.
 */
abstract class ClosableEndpoint implements Endpoint {
    private volatile boolean isClosed;

    /** See {@link Endpoint#bind}. */
    abstract <T> T find(Class<T> type, String name);

    /** See {@link Endpoint#createInstance} and {@link Endpoint#classObject}. */
    abstract <T> T create(Guid classId, Class<T> type, boolean wantsClass);

    @Override
    public final <T> T bind(Class<T> type, String name) {
        checkOpen();
        return find(type, name);
    }

    @Override
    public final <T> T createInstance(Guid classId, Class<T> type) {
        checkOpen();
        return create(classId, type, false);
    }

    @Override
    public final <T> T classObject(Guid classId, Class<T> type) {
        checkOpen();
        return create(classId, type, true);
    }

    private void checkOpen() {
        if (isClosed) {
            throw RpcException.of(Hresult.RPC_E_DISCONNECTED, "the endpoint is closed");
        }
    }

    @Override
    public final void close() {
        isClosed = true;
    }
}
