package obvia.processor;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The structure that a frame begins with: what lies where. */
final class Block {
    /**
     * A member.
     *
     * @param type what it is; {@code null} for the number of an array's elements
     * @param name the variable that has it
     */
    record Item(Type type, String name, int at) {
        /** Whether it lies in the block, whole. */
        boolean isHere() {
            return type == null || type.isScalar();
        }

        int size() {
            return type == null ? 4 : type.size();
        }

        /** Whether it is a number, which may have any value. */
        boolean isNumber() {
            return type instanceof Type.Value value && value.base() != Base.BOOLEAN;
        }
    }

    final List<Item> items = new ArrayList<>();
    private int end;

    /** Adds what a parameter or a result has there. */
    void add(Type type, String name) {
        if (type instanceof Type.Sequence) {
            place(null, name);
        }
        place(type, name);
    }

    private void place(Type type, String name) {
        int size = new Item(type, name, 0).size();
        int at = end + size - 1 & -size;
        items.add(new Item(type, name, at));
        end = at + size;
    }

    /** Its bytes: so many that objects may follow it. */
    int size() {
        return end + 7 & -8;
    }

    /** The bytes that it has as a structure in an array. */
    int stride() {
        int most = items.stream().mapToInt(Item::size).max().orElse(1);
        return end + most - 1 & -most;
    }

    /** Whether something is a structure, or leads to one. */
    boolean isGraph() {
        return items.stream().anyMatch(item -> item.type() != null && item.type().isGraph());
    }

    /** Whether something is an object that is called, or leads to one. */
    boolean hasReferences() {
        Set<Type> seen = new HashSet<>();
        return items.stream().anyMatch(item -> item.type() != null && item.type().hasReferences(seen));
    }

    /** Where the number of an array's elements lies. */
    int count(Item of) {
        return items.get(items.indexOf(of) - 1).at;
    }

    /** Whether there is nothing behind it. */
    boolean isAll() {
        return items.stream().allMatch(Item::isHere);
    }

    /** Whether it has numbers and nothing else. */
    boolean isNumbers() {
        return items.stream().allMatch(Item::isNumber);
    }
}
