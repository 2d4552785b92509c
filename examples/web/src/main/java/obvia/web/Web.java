package obvia.web;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import obvia.Export;
import obvia.Obvia;
import obvia.RpcException;

/**
 * The program: a web server whose pages come from objects in other processes, and the server's test
 * tools.
 */
public final class Web {
    private static final String HELP = """
            usage: web COMMAND ...

              serve        runs the server until it is ended
                  --listen HOST:PORT      the address to listen at [127.0.0.1:8080]
                  --route PREFIX=HANDLER  sends paths with this prefix to a handler in a process of its own; may be repeated
                  --name NAME             the server's name for `route`, `replace` and `routes` [web]
                  --record FILE           writes a trace of the requests
                  --deadline SECONDS      the time limit of a handler [10]
                  --headers N             the greatest number of headers of a request [64]
                  --header-bytes N        their greatest size together [16384]
                  --body-bytes N          the greatest size of a body [1048576]
                  --at-once N             the greatest number of requests at one time [256]
                  --handler-option WORD   an option of the handlers' virtual machines; may be repeated
              route PREFIX HANDLER [--name NAME]
                           starts a process that handles a prefix; a former process of the prefix ends after its last request
              replace PREFIX HANDLER [--name NAME]
                           changes the handler within the process of a prefix
              routes [--name NAME]
                           lists the prefixes and their handlers
              replay FILE  sends the requests of a trace at their recorded intervals
                  --to URL                the server [http://127.0.0.1:8080]
                  --speed N               divides the intervals by N [1]
                  --at-once N             the greatest number of unanswered requests [64]
              load         sends generated requests: a few pages often, many seldom
                  --requests N            the number of requests [5000]
                  --rate N                requests per second on average [250]
                  --pages N               the number of pages [2000]
                  --skew N                page K is requested in proportion to 1 / K to the power of N [0.9]
                  --seed N                the same seed gives the same requests [1]
                  --to URL, --at-once N   as for replay
              occupancy [FILE]
                           replays a trace, or generated requests, with a handler that retains requests, and writes how much memory they use
                  --out FOLDER            the folder for the results [.]
                  --speed N               divides the intervals by N [1]
                  --paths N               the number of paths whose last request is retained [500]
                  --requests N ...        without FILE: the generated requests, as for load

            A HANDLER is CLASS[@JAR][:ARGUMENT], where the class implements obvia.web.IHandler, or one of these:
              echo         answers with the request
              pages        generates pages; the argument is their title
              recent       retains the last request of each path; the argument is the number of paths
            """;

    private Web() {}

    /** The program. */
    public static void main(String[] arguments) {
        System.exit(run(List.of(arguments)));
    }

    /** Performs a command, and returns the exit code. */
    private static int run(List<String> arguments) {
        if (arguments.isEmpty() || arguments.contains("--help")) {
            System.out.print(HELP);
            return arguments.isEmpty() ? 2 : 0;
        }
        try {
            Options options = new Options(arguments.subList(1, arguments.size()));
            switch (arguments.getFirst()) {
                case "serve" -> serve(options);
                case "handler" -> handle(options);
                case "route", "replace", "routes" -> control(arguments.getFirst(), options);
                case "replay" -> replay(options);
                case "load" -> load(options);
                case "occupancy" -> occupancy(options);
                default -> throw new Options.UsageException("there is no command `" + arguments.getFirst() + "`");
            }
            return 0;
        } catch (Options.UsageException e) {
            System.err.println("web: " + e.getMessage() + "; `web --help` lists commands and options");
            return 2;
        } catch (IOException | RpcException | IllegalArgumentException e) {
            System.err.println("web " + arguments.getFirst() + ": " + e.getMessage());
            return 1;
        } catch (Exception e) {
            e.printStackTrace();
            return 1;
        }
    }

    private static void serve(Options options) throws Exception {
        InetSocketAddress address = address(options.text("--listen", "127.0.0.1:8080"));
        String name = options.text("--name", "web");
        String record = options.text("--record", null);
        Server.Limits usual = Server.Limits.USUAL;
        Server.Limits limits = new Server.Limits(
                options.number("--headers", usual.headers(), 1, 256),
                options.number("--header-bytes", usual.headerBytes(), 1, 1 << 20),
                options.number("--body-bytes", usual.bodyBytes(), 0, 16 << 20),
                options.number("--at-once", usual.atOnce(), 1, 4096),
                Duration.ofMillis((long) (options.real("--deadline", usual.deadline().toSeconds(), 0.001, 3600) * 1000)));
        var launcher = new HandlerProcess.Launcher(options.all("--handler-option"), Duration.ofSeconds(30));
        List<String> prefixes = options.all("--route");
        options.end();

        Routes routes = new Routes();
        Control control = new Control(routes, launcher);
        for (String route : prefixes) {
            String[] halves = route.split("=", 2);
            if (halves.length < 2) {
                throw new Options.UsageException("--route must be PREFIX=HANDLER, not `" + route + "`");
            }
            control.route(halves[0], halves[1]);
        }
        Recorder recorder = record == null ? null : new Recorder(Path.of(record));
        Server server = new Server(address, routes, limits, recorder);
        Export export = Obvia.export(control, IServer.class, name);
        Log.say("serving http://%s:%d", server.address().getHostString(), server.address().getPort());
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            export.close();
            server.close();
            routes.close();
            if (recorder != null) {
                recorder.close();
            }
        }));
        new CountDownLatch(1).await();
    }

    private static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        try {
            return new InetSocketAddress(text.substring(0, Math.max(colon, 0)), Integer.parseInt(text.substring(colon + 1)));
        } catch (IllegalArgumentException e) {
            throw new Options.UsageException("`" + text + "` is not HOST:PORT");
        }
    }

    private static void handle(Options options) throws IOException {
        String name = options.word("the name");
        String spec = options.word("the handler");
        options.end();
        Host.run(name, spec);
    }

    private static void control(String command, Options options) throws Exception {
        String name = options.text("--name", "web");
        List<String> words = new ArrayList<>();
        if (!command.equals("routes")) {
            words.addAll(List.of(options.word("the prefix"), options.word("the handler")));
        }
        options.end();
        IServer server = Obvia.bind(IServer.class, name);
        // The start of a process may take this long.
        within(Duration.ofSeconds(60), () -> {
            switch (command) {
                case "route" -> server.route(words.get(0), words.get(1));
                case "replace" -> server.replace(words.get(0), words.get(1));
                default -> System.out.println(server.list());
            }
            return null;
        });
    }

    private static <R> R within(Duration time, Callable<R> work) throws Exception {
        try {
            return Obvia.within(time, work::call);
        } catch (RpcException e) {
            throw new IOException(e.getMessage() + "; the server's log has the reason", e);
        }
    }

    private static void replay(Options options) throws Exception {
        List<Trace.Request> requests = Trace.read(Path.of(options.word("the trace")));
        double speed = options.real("--speed", 1, 0.001, 100_000);
        play(options, requests, speed);
    }

    private static void load(Options options) throws Exception {
        play(options, Load.make(site(options)), 1);
    }

    private static Load.Site site(Options options) {
        return new Load.Site(
                options.number("--requests", 5000, 1, 1_000_000),
                options.real("--rate", 250, 0.1, 100_000),
                options.number("--pages", 2000, 1, 1_000_000),
                options.real("--skew", 0.9, 0, 10),
                options.number("--seed", 1, 0, Integer.MAX_VALUE));
    }

    private static void play(Options options, List<Trace.Request> requests, double speed) throws Exception {
        URI server = URI.create(options.text("--to", "http://127.0.0.1:8080"));
        int atOnce = options.number("--at-once", 64, 1, 10_000);
        options.end();
        Player.Result result = Player.play(server, requests, speed, atOnce);
        System.out.println(result);
        if (result.failures() > 0) {
            throw new IOException(result.failures() + " requests had no answer");
        }
    }

    private static void occupancy(Options options) throws Exception {
        List<Trace.Request> requests = options.hasWord() ? Trace.read(Path.of(options.word("the trace"))) : Load.make(site(options));
        Path folder = Path.of(options.text("--out", "."));
        double speed = options.real("--speed", 1, 0.001, 100_000);
        int paths = options.number("--paths", 500, 1, 1_000_000);
        options.end();
        System.out.print(new OccupancyRun(requests, speed, paths, folder).run());
    }
}
