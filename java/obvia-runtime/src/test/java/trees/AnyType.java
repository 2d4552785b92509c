// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphWriter;

/** {@link Any} in frames. */
final class AnyType {
    private AnyType() {}

    /** Writes the arm. */
    static void put(GraphWriter out, Any value, int at) {
        switch (value) {
            case Any.Number of -> {
                out.putInt(at, of.number());
            }
            case Any.Real of -> {
                out.putDouble(at, of.real());
            }
            case Any.Text of -> {
                out.text16(at, of.text());
            }
            case Any.List_ of -> {
                out.one(at, ItemType.TYPE, of.list());
            }
            case Any.Color_ of -> {
                out.putInt(at, of.color().value());
            }
            case Any.Default none -> {}
        }
    }

    /** The arm as it lies in a frame that was checked. */
    static Any view(Frame frame, int at, int which) {
        return switch (which) {
            case 1 -> new Any.Number(frame.getInt(at));
            case 2 -> new Any.Real(frame.getDouble(at));
            case 3 -> new Any.Text(frame.text16(at));
            case 4 -> new Any.List_((Item) frame.one(at, ItemType.TYPE));
            case 5, 6 -> new Any.Color_(which, Color.of(frame.getInt(at)));
            default -> new Any.Default(which);
        };
    }

    /** The same, apart from the frame. */
    static Any build(GraphReader in, int at, int which) {
        return switch (which) {
            case 1 -> new Any.Number(in.getInt(at));
            case 2 -> new Any.Real(in.getDouble(at));
            case 3 -> new Any.Text(in.text16(at));
            case 4 -> new Any.List_((Item) in.one(at));
            case 5, 6 -> new Any.Color_(which, Color.of(in.getInt(at)));
            default -> new Any.Default(which);
        };
    }
}
