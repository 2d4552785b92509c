package obvia.processor;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The layout of the structure at a frame's beginning. */
final class Block {
    /**
     * A member.
     *
     * @param type the type; {@code null} for the number of an array's elements
     * @param name the variable with the value
     * @param at the offset in the block
     */
    record Item(Type type, String name, int at) {
        /** Whether the whole value lies in the block. */
        boolean isHere() {
            return type == null || type.isScalar();
        }

        int size() {
            return type == null ? 4 : type.size();
        }

        /** Whether the member is a number, for which any value is valid. */
        boolean isNumber() {
            return type instanceof Type.Value value && value.base() != Base.BOOLEAN;
        }
    }

    final List<Item> items = new ArrayList<>();
    private int end;

    /** Adds the members for a parameter or a result. */
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

    /** Returns the size in bytes, rounded up to the alignment of the objects that follow. */
    int size() {
        return end + 7 & -8;
    }

    /** Returns the size in bytes of the structure as an element of an array. */
    int stride() {
        int most = items.stream().mapToInt(Item::size).max().orElse(1);
        return end + most - 1 & -most;
    }

    /** Whether a member is a structure or leads to one. */
    boolean isGraph() {
        return items.stream().anyMatch(item -> item.type() != null && item.type().isGraph());
    }

    /** Whether a member is a remote object or leads to one. */
    boolean hasReferences() {
        Set<Type> seen = new HashSet<>();
        return items.stream().anyMatch(item -> item.type() != null && item.type().hasReferences(seen));
    }

    /** Returns the offset of the member with the number of elements of the array {@code of}. */
    int count(Item of) {
        return items.get(items.indexOf(of) - 1).at;
    }

    /** Whether no object follows the block. */
    boolean isAll() {
        return items.stream().allMatch(Item::isHere);
    }

    /** Whether all members are numbers. */
    boolean isNumbers() {
        return items.stream().allMatch(Item::isNumber);
    }
}
