// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.Objects;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Entry}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Entry permits Entry.Rec, Entry.View {
    /** {@code name} */
    String name();

    /** {@code kind} */
    int kind();

    /** {@code value} */
    Any value();

    /** One with these values. */
    static Rec of(String name, int kind, Any value) {
        return new Rec(name, kind, value);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Entry copy() {
        return Graphs.copy(EntryType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Entry> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Entry} that a program makes. */
    record Rec(String name, int kind, Any value) implements Entry {
        /** One with these values. */
        public Rec {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(value, "value");
            Frames.checkCase(value.which(), kind);
        }
    }

    /** A {@link Entry} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Entry {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public String name() {
            return frame.text8(at);
        }

        @Override
        public int kind() {
            return frame.getInt(at + 8);
        }

        @Override
        public Any value() {
            return AnyType.view(frame, at + 16, frame.getInt(at + 8));
        }

        @Override
        protected GraphType graphType() {
            return EntryType.TYPE;
        }
    }
}
