package obvia.web;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RoutesTest {
    @Test
    void routePrefixesMatchWholePathSegments() {
        assertTrue(Routes.isBelow("/a/b", "/"));
        assertTrue(Routes.isBelow("/a", "/a"));
        assertTrue(Routes.isBelow("/a/b", "/a"));
        assertTrue(Routes.isBelow("/a?b", "/a"));
        assertTrue(Routes.isBelow("/a/b", "/a/"));
        assertFalse(Routes.isBelow("/ab", "/a"));
        assertFalse(Routes.isBelow("/b", "/a"));
        assertFalse(Routes.isBelow("/a", "/a/"));
    }

    @Test
    void aReplacedHandlerEndsWithItsLastUser() {
        var ended = new AtomicInteger();
        var uses = new Uses(ended::incrementAndGet);
        assertTrue(uses.enter());
        assertTrue(uses.enter());
        uses.leave();
        uses.leave();
        assertEquals(0, ended.get(), "its owner");
        assertTrue(uses.enter());
        uses.leave();
        uses.leave();
        assertEquals(1, ended.get());
        assertFalse(uses.enter());
        assertEquals(1, ended.get());
    }

    @Test
    void namesAndValuesOfHeadersAreChecked() {
        assertTrue(Http.isToken("X-a1"));
        assertFalse(Http.isToken(""));
        assertFalse(Http.isToken("a b"));
        assertFalse(Http.isToken("a:"));
        assertTrue(Http.isValue("a b\tc\u00e9"));
        assertFalse(Http.isValue("a\r\nb"));
        assertFalse(Http.isValue("a\u0000"));
        assertFalse(Http.isValue("\u20ac"));
        assertTrue(Http.ofConnection(List.of("close, X-Mine")).containsAll(List.of("x-mine", "connection", "transfer-encoding")));
    }

    @Test
    void handlersAreCreatedByClassName() {
        assertTrue(Handlers.make("echo") instanceof Echo);
        assertTrue(Handlers.make("obvia.web.Pages:of a title") instanceof Pages);
        for (String spec : List.of("nothing", "java.lang.String", "echo:argument", "recent:x", "obvia.web.Pages@nothing.jar", "")) {
            assertThrows(IllegalArgumentException.class, () -> Handlers.make(spec), spec);
        }
    }

    @Test
    void optionsAreUnderstoodOrRefused() {
        var options = new Options(List.of("word", "--a", "1", "--b", "x", "--b", "y"));
        assertEquals("word", options.word("a word"));
        assertEquals(1, options.number("--a", 7, 0, 2));
        assertEquals(List.of("x", "y"), options.all("--b"));
        assertEquals(7, options.number("--c", 7, 0, 2));
        options.end();
        assertThrows(Options.UsageException.class, () -> new Options(List.of("--a")));
        assertThrows(Options.UsageException.class, () -> new Options(List.of("--a", "3")).number("--a", 0, 0, 2));
        assertThrows(Options.UsageException.class, () -> new Options(List.of("--a", "x")).number("--a", 0, 0, 2));
        assertThrows(Options.UsageException.class, () -> new Options(List.of("--a", "1", "--a", "2")).text("--a", ""));
        assertThrows(Options.UsageException.class, () -> new Options(List.of("--a", "1")).end());
        assertThrows(Options.UsageException.class, () -> new Options(List.of("a")).end());
        assertThrows(Options.UsageException.class, () -> new Options(List.of()).word("a word"));
    }
}
