// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import obvia.Remote;

/** Tells &lt;everything> &amp; more &#64;once *&#47;. */
public interface IBase extends Remote {
    /**
     * The first.
     * And more of it.
     *
     * @param call an unsigned small
     * @param length an unsigned short
     */
    FirstThingResult firstThing(byte call, short length);

    /**
     * What {@link #firstThing} returns.
     *
     * @param length an unsigned short
     * @param letter an unsigned char
     */
    record FirstThingResult(short length, byte letter) {}

    /** {@code Wait} */
    void wait_(long class_);
}
