// Made by obvia-idl 0.1.0 from forms.idl. Change the IDL, not this.
package forms;

import java.util.Objects;
import obvia.Guid;
import obvia.Remote;

/** {@code interface IForms} */
public interface IForms extends IBase {
    /**
     * {@code Values}
     *
     * @param result an HRESULT
     */
    void values(boolean yes, Color color, Grade grade, Level level, char letter, float f, int result);

    /**
     * {@code Swap}
     *
     * @param number from -5 to 5
     */
    SwapResult swap(Row row, Color color, boolean yes, short number);

    /**
     * What {@link #swap} returns.
     *
     * @param number from -5 to 5
     */
    record SwapResult(Row row, Color color, boolean yes, short number) {}

    /**
     * {@code Fixed}
     *
     * @param seal 16 elements
     * @param colors 2 elements
     */
    Point fixed(byte[] seal, Guid key, Color[] colors);

    /** {@code Both} */
    void both(float[] a, boolean[] b, Color[] colors);

    /**
     * {@code Change}
     *
     * @param rows changed in place
     * @param letters changed in place
     */
    void change(Row[] rows, char[] letters);

    /**
     * {@code Expression}
     *
     * @param height an unsigned hyper
     * @param more of unsigned byte each
     */
    void expression(int width, long height, double[] cells, int shown, byte[] more);

    /**
     * {@code Filled}
     *
     * @param n an unsigned long
     * @param data changed in place
     * @param rows changed in place
     * @return an unsigned long
     */
    int filled(int n, int[] data, Row[] rows);

    /**
     * {@code Texts}
     *
     * @param wide may be {@code null}
     */
    TextsResult texts(String narrow, String wide);

    /**
     * What {@link #texts} returns.
     *
     * @param loud may be {@code null}
     * @param quiet may be {@code null}
     */
    record TextsResult(String loud, String quiet) {}

    /**
     * {@code Maybe}
     *
     * @param row may be {@code null}
     * @param number may be {@code null}
     * @param yes may be {@code null}
     */
    void maybe(Row row, Integer number, Boolean yes);

    /** {@code Allocated} */
    AllocatedResult allocated();

    /** What {@link #allocated} returns. */
    record AllocatedResult(long[] numbers, Color[] colors) {}

    /**
     * {@code Objects}
     *
     * @param base may be {@code null}
     * @param any may be {@code null}
     * @param object may be {@code null}
     */
    ObjectsResult objects(IBase base, Remote any, Guid iid, Remote object);

    /**
     * What {@link #objects} returns.
     *
     * @param forms may be {@code null}
     * @param other may be {@code null}
     */
    record ObjectsResult(IForms forms, int number, Remote other) {}

    /**
     * {@code Tell}
     *
     * @param to may be {@code null}
     */
    void tell(String what, IBase to);

    /** {@code TELL} */
    void tell_(int what);
}
