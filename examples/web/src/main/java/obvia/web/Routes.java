package obvia.web;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The handlers by the prefixes of paths. If several prefixes match a path, the longest applies. */
final class Routes implements AutoCloseable {
    /** The routes, the longest prefix first. Each change replaces the array. */
    private volatile Route[] routes = {};

    /** Returns the route for a path, or {@code null}. */
    Route find(String path) {
        for (Route route : routes) {
            if (isBelow(path, route.prefix())) {
                return route;
            }
        }
        return null;
    }

    /**
     * Whether a path is the prefix itself or below it: {@code /a} matches {@code /a}, {@code /a/b}
     * and {@code /a?b}, but not {@code /ab}.
     */
    static boolean isBelow(String path, String prefix) {
        if (!path.startsWith(prefix)) {
            return false;
        }
        return prefix.endsWith("/") || path.length() == prefix.length() || "/?".indexOf(path.charAt(prefix.length())) >= 0;
    }

    /** Returns the route with exactly this prefix, or {@code null}. */
    Route of(String prefix) {
        for (Route route : routes) {
            if (route.prefix().equals(prefix)) {
                return route;
            }
        }
        return null;
    }

    /** Adds a route for a new prefix. */
    synchronized void add(Route route) {
        Route[] more = Arrays.copyOf(routes, routes.length + 1);
        more[routes.length] = route;
        Arrays.sort(more, Comparator.comparingInt((Route one) -> -one.prefix().length()));
        routes = more;
    }

    List<Route> all() {
        return List.of(routes);
    }

    @Override
    public void close() {
        all().forEach(Route::close);
    }
}
