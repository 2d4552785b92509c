// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import java.util.List;
import java.util.Objects;
import obvia.Guid;
import obvia.Remote;
import obvia.Retained;
import obvia.runtime.Frame;
import obvia.runtime.Frames;
import obvia.runtime.GraphType;
import obvia.runtime.GraphView;
import obvia.runtime.Graphs;

/** {@code struct Crowd}: a {@link Rec} that a program makes, or a {@link View} of what a call has brought. */
public sealed interface Crowd permits Crowd.Rec, Crowd.View {
    /** {@code all}: may be {@code null} */
    List<ITrees> all();

    /** {@code two} */
    List<ITrees> two();

    /** {@code iid} */
    Guid iid();

    /** {@code other}: may be {@code null} */
    Remote other();

    /** One with these values. */
    static Rec of(List<ITrees> all, List<ITrees> two, Guid iid, Remote other) {
        return new Rec(all, two, iid, other);
    }

    /** The same with everything that it points to, in memory of its own: it can be read for good. */
    default Crowd copy() {
        return Graphs.copy(CrowdType.TYPE, this);
    }

    /** The same for as long as it is needed, and not changed by anybody: to be closed then. */
    default Retained<Crowd> retain() {
        return Graphs.retain(this);
    }

    /** A {@link Crowd} that a program makes. */
    record Rec(List<ITrees> all, List<ITrees> two, Guid iid, Remote other) implements Crowd {
        /** One with these values. */
        public Rec {
            all = Frames.copyOfOptional(all);
            Objects.requireNonNull(two, "two");
            two = Frames.copyOfOptional(two);
            Frames.checkLength(two.size(), 2);
            Objects.requireNonNull(iid, "iid");
            Frames.checkLengths(2147483647, all);
        }
    }

    /** A {@link Crowd} as it lies in a frame: to be read until its call returns. */
    final class View extends GraphView implements Crowd {
        View(Frame frame, int at) {
            super(frame, at);
        }

        @Override
        public List<ITrees> all() {
            return frame.list(at + 8, GraphType.object(ITrees.class));
        }

        @Override
        public List<ITrees> two() {
            return frame.list(at + 16, 2, GraphType.object(ITrees.class));
        }

        @Override
        public Guid iid() {
            return frame.getGuid(at + 32);
        }

        @Override
        public Remote other() {
            return frame.object(at + 48);
        }

        @Override
        protected GraphType graphType() {
            return CrowdType.TYPE;
        }
    }
}
