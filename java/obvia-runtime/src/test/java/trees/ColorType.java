// Made by obvia-idl 0.1.0 from trees.idl. Change the IDL, not this.
package trees;

import obvia.runtime.Frame;
import obvia.runtime.GraphReader;
import obvia.runtime.GraphType;
import obvia.runtime.GraphWriter;

/** {@link Color} as the runtime knows it. */
final class ColorType extends GraphType {
    static final ColorType TYPE = new ColorType();

    private ColorType() {
        super(4);
    }

    @Override
    protected void verify(GraphReader in, int at) {
        switch (in.getInt(at)) {
            case 0, 5, 6 -> {}
            default -> throw in.badEnum(at);
        }
    }

    @Override
    protected void write(GraphWriter out, Object value, int at) {
        out.putInt(at, ((Color) value).value());
    }

    @Override
    protected Color view(Frame frame, int at) {
        return Color.of(frame.getInt(at));
    }
}
