package matrix;

import deep.IDeep;
import deep.IShapes;
import java.util.Map;
import obvia.Credentials;
import obvia.Endpoint;
import obvia.Obvia;
import values.IValues;

/**
 * The matrix in Java.
 *
 * <ul>
 *  <li>{@code serve NAME [BINDING...]} serves the objects under this name with a suffix each, on
 *      this host and at string bindings, until the standard input ends
 *  <li>{@code check [BINDING NAME OBJECTS]...} calls every method of the objects of servers:
 *      {@code values,shapes,deep}; without arguments, of objects of this virtual machine
 * </ul>
 */
final class Program {
    private Program() {}

    public static void main(String[] words) throws Exception {
        if (words[0].equals("serve")) {
            serve(words);
        } else {
            check(words);
        }
        System.exit(0);
    }

    /**
     * Sets the credentials and the account that all processes of the matrix have, as {@code
     * matrix::become_known} does.
     */
    private static void becomeKnown() {
        var user = new Credentials("", "matrix", "red or blue");
        Obvia.setAccounts(Map.of(user.user(), user.password()));
        Obvia.setCredentials(user);
    }

    private static void serve(String[] words) throws Exception {
        if (words.length > 2) {
            becomeKnown();
        }
        try (var _ = Obvia.export(new Values(), IValues.class, words[1] + "-values");
                var _ = Obvia.export(new Deep(), IDeep.class, words[1] + "-deep");
                // The shapes keep state, so clients in each language get an object of their own.
                var _ = Obvia.export(new Shapes(), IShapes.class, words[1] + "-shapes");
                var _ = Obvia.export(new Shapes(), IShapes.class, words[1] + "-shapes-of-java");
                var _ = Obvia.export(new Shapes(), IShapes.class, words[1] + "-shapes-of-rust")) {
            for (int i = 2; i < words.length; i++) {
                System.out.println(Obvia.listen(words[i]));
            }
            System.out.println("serving");
            System.in.readAllBytes();
        }
    }

    private static void check(String[] words) throws Exception {
        if (words.length > 1) {
            becomeKnown();
        }
        for (int i = 1; i < words.length; i += 3) {
            for (String object : words[i + 2].split(",")) {
                try {
                    check(Obvia.connect(words[i]), words[i + 1] + "-" + object);
                } catch (AssertionError | RuntimeException e) {
                    throw new AssertionError(object + " at " + words[i], e);
                }
            }
        }
        if (words.length == 1) {
            CheckValues.check(new Values(), false);
            CheckShapes.check(new Shapes(), false);
            CheckDeep.check(new Deep(), false);
        }
        System.out.println("ok");
    }

    private static void check(Endpoint server, String name) throws Exception {
        if (name.endsWith("-values")) {
            CheckValues.check(server.bind(IValues.class, name), true);
        } else if (name.contains("-shapes")) {
            CheckShapes.check(server.bind(IShapes.class, name), true);
        } else {
            CheckDeep.check(server.bind(IDeep.class, name), true);
        }
    }
}
