package obvia.processor;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * An interface as an IDL file with all types that it depends on, for compilers of other languages.
 */
final class IdlFile {
    private final World world;
    private final InterfaceReader reader;
    private final Remote remote;
    /** The interfaces that the interface depends on, bases first. */
    private final Set<Remote> reached = new LinkedHashSet<>();

    /** The texts of interfaces for which code was generated earlier. */
    private final Set<String> others = new LinkedHashSet<>();

    IdlFile(World world, InterfaceReader reader, Remote remote) {
        this.world = world;
        this.reader = reader;
        this.remote = remote;
    }

    String text() throws Refused {
        reach(remote);
        StringBuilder head = new StringBuilder("// Made by obvia-processor from " + remote.element.getSimpleName() + ".java. Change that, not this.\nimport \"unknwn.idl\";\n");
        for (Remote one : reached) {
            one.failures.forEach(failure -> head.append(Canonical.comment(one, failure)));
        }
        List<Remote> all = new ArrayList<>(reached);
        String own = Canonical.text(all, Closure.of(all));
        Set<String> declared = new LinkedHashSet<>();
        StringBuilder text = new StringBuilder();
        for (Remote one : all) {
            text.append("interface " + one.name + ";\n");
        }
        others.forEach(other -> add(other, text, declared));
        add(own, text, declared);
        return head.append(text).toString();
    }

    private void reach(Remote from) throws Refused {
        if (reached.contains(from)) {
            return;
        }
        if (from.base != null) {
            reach(from.base);
        }
        reached.add(from);
        for (Type.Reference reference : Closure.of(from.lineage()).references.values()) {
            if (world.isMadeHere(reference.element())) {
                reach(reader.read(reference.element()));
            } else {
                others.add(world.text(reference.element()));
            }
        }
    }

    /** Adds declarations that are not there yet: each begins and ends at the left margin. */
    private static void add(String text, StringBuilder to, Set<String> declared) {
        StringBuilder one = new StringBuilder();
        for (String line : text.split("(?<=\n)")) {
            one.append(line);
            boolean ends = line.startsWith("}") || line.stripTrailing().endsWith(";") && !line.startsWith(" ");
            if (ends && declared.add(one.toString())) {
                to.append(one);
            }
            if (ends) {
                one.setLength(0);
            }
        }
    }
}
