package obvia.web;

import java.io.IOException;
import java.util.List;
import obvia.Hresult;
import obvia.RpcException;

/**
 * The administration interface of the running server. Failures are also written to the server's
 * log.
 */
final class Control implements IServer {
    private static final int ROUTES_MAX = 256;

    private final Routes routes;
    private final HandlerProcess.Launcher launcher;

    Control(Routes routes, HandlerProcess.Launcher launcher) {
        this.routes = routes;
        this.launcher = launcher;
    }

    @Override
    public synchronized void route(String prefix, String handler) {
        try {
            Route route = routes.of(prefix);
            if (route != null) {
                route.replaceProcess(handler);
                return;
            }
            if (!Trace.isPath(prefix) || routes.all().size() == ROUTES_MAX) {
                throw new RpcException(Hresult.E_INVALIDARG, "`" + prefix + "` cannot be a prefix, or there are too many");
            }
            routes.add(new Route(prefix, handler, launcher));
        } catch (IOException e) {
            throw failed(prefix, e);
        }
    }

    @Override
    public void replace(String prefix, String handler) {
        Route route = routes.of(prefix);
        if (route == null) {
            throw new RpcException(Hresult.E_INVALIDARG, "nothing handles `" + prefix + "`");
        }
        try {
            route.replaceHandler(handler);
        } catch (IOException e) {
            throw failed(prefix, e);
        }
    }

    private static RpcException failed(String prefix, IOException failure) {
        Log.say("%s: nothing has changed: %s", Log.quote(prefix), Log.quote(String.valueOf(failure.getMessage())));
        return new RpcException(Hresult.E_FAIL, failure.getMessage(), failure);
    }

    @Override
    public String list() {
        List<String> lines = routes.all().stream().map(Route::line).toList();
        return String.join("\n", lines);
    }
}
