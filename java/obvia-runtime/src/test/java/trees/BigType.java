// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphWriter;

/** {@link Big} in frames. */
final class BigType {
    private BigType() {}

    /** Writes the arm. */
    static void put(GraphWriter out, Big value, int at) {
        switch (value) {
            case Big.Number of -> {
                out.putInt(at, of.number());
            }
            case Big.List_ of -> {
                out.one(at, ItemType.TYPE, of.list());
            }
            case Big.CaseMinus7 none -> {}
            case Big.Text of -> {
                out.text16(at, of.text());
            }
        }
    }

    /** The arm as it lies in a frame that was checked. */
    static Big view(Frame frame, int at, long which) {
        if (which == 1L) {
            return new Big.Number(frame.getInt(at));
        }
        if (which == 5000000000L || which == 5000000001L) {
            return new Big.List_(which, (Item) frame.one(at, ItemType.TYPE));
        }
        if (which == -7L) {
            return new Big.CaseMinus7();
        }
        return new Big.Text(which, frame.text16(at));
    }

    /** The same, apart from the frame. */
    static Big build(GraphReader in, int at, long which) {
        if (which == 1L) {
            return new Big.Number(in.getInt(at));
        }
        if (which == 5000000000L || which == 5000000001L) {
            return new Big.List_(which, (Item) in.one(at));
        }
        if (which == -7L) {
            return new Big.CaseMinus7();
        }
        return new Big.Text(which, in.text16(at));
    }
}
