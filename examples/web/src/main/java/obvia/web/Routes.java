package obvia.web;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Which handler has which paths: the longest prefix counts. */
final class Routes implements AutoCloseable {
    /** The longest prefix first; never changed, but replaced. */
    private volatile Route[] routes = {};

    /** The route of a path, or {@code null}. */
    Route find(String path) {
        for (Route route : routes) {
            if (isBelow(path, route.prefix())) {
                return route;
            }
        }
        return null;
    }

    /** Whether a path is a prefix itself or lies below it: {@code /a} has {@code /a}, {@code /a/b} and {@code /a?b}, and not {@code /ab}. */
    static boolean isBelow(String path, String prefix) {
        if (!path.startsWith(prefix)) {
            return false;
        }
        return prefix.endsWith("/") || path.length() == prefix.length() || "/?".indexOf(path.charAt(prefix.length())) >= 0;
    }

    /** The route of exactly this prefix, or {@code null}. */
    Route of(String prefix) {
        for (Route route : routes) {
            if (route.prefix().equals(prefix)) {
                return route;
            }
        }
        return null;
    }

    /** Adds a route of a prefix that has none. */
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
