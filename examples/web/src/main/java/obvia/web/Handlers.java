package obvia.web;

import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Finds handlers: {@code CLASS[@JAR][:ARGUMENT]}, where the class is one of the class path, of a jar, or a short name of one that comes along.
 *
 * <p>It has a constructor that takes the argument, or one that takes nothing. Each time a jar is named it is loaded anew.
 */
final class Handlers {
    private static final Map<String, String> SHORT = Map.of("echo", Echo.class.getName(), "pages", Pages.class.getName(), "recent", Recent.class.getName());

    private Handlers() {}

    /**
     * Makes a handler.
     *
     * @throws IllegalArgumentException where there is none like that
     */
    static IHandler make(String spec) {
        String[] halves = spec.split(":", 2);
        String[] place = halves[0].split("@", 2);
        String name = SHORT.getOrDefault(place[0], place[0]);
        try {
            Class<?> found = Class.forName(name, true, place.length == 1 ? Handlers.class.getClassLoader() : loader(place[1]));
            Class<? extends IHandler> type = found.asSubclass(IHandler.class);
            return halves.length == 1 ? type.getDeclaredConstructor().newInstance() : type.getDeclaredConstructor(String.class).newInstance(halves[1]);
        } catch (ReflectiveOperationException | ClassCastException | LinkageError e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IllegalArgumentException("there is no handler `" + spec + "`: " + cause, e);
        }
    }

    // What it loaded goes when the handler does.
    @SuppressWarnings("resource")
    private static ClassLoader loader(String jar) {
        Path path = Path.of(jar);
        if (!Files.isReadable(path)) {
            throw new IllegalArgumentException("there is no file " + jar);
        }
        try {
            return new URLClassLoader(new URL[] {path.toUri().toURL()}, Handlers.class.getClassLoader());
        } catch (MalformedURLException e) {
            throw new IllegalArgumentException(jar + " cannot be loaded", e);
        }
    }
}
