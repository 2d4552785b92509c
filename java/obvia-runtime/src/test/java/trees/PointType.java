// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Point} as the runtime knows it. */
final class PointType extends GraphType {
    static final PointType TYPE = new PointType();

    private PointType() {
        super(12);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        switch (in.getInt(at + 4)) {
            case 0, 5, 6 -> {}
            default -> throw in.badEnum(at + 4);
        }
        in.checkBoolean(at + 8);
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        ((Point) value).write(out.memory(), at);
    }

    @Override
    protected Point view(Frame frame, int at) {
        return Point.read(frame.values(), at);
    }
}
