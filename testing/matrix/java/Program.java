package matrix;

import obvia.Obvia;
import values.IValues;

/**
 * The matrix in Java.
 *
 * <ul>
 *   <li>{@code serve NAME} serves the objects under the name that is given and what they are, until the standard input ends
 *   <li>{@code check VALUES...} calls every method of the objects behind these names; without any, of objects of this virtual machine
 * </ul>
 */
final class Program {
    private Program() {}

    public static void main(String[] words) throws Exception {
        if (words[0].equals("serve")) {
            serve(words[1]);
        } else {
            check(words);
        }
        System.exit(0);
    }

    private static void serve(String name) throws Exception {
        try (var _ = Obvia.export(new Values(), IValues.class, name + "-values")) {
            System.out.println("serving");
            System.in.readAllBytes();
        }
    }

    private static void check(String[] words) {
        for (int i = 1; i < words.length; i++) {
            CheckValues.check(Obvia.bind(IValues.class, words[i]), true);
        }
        if (words.length == 1) {
            CheckValues.check(new Values(), false);
        }
        System.out.println("ok");
    }
}
