// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import java.util.List;
import obvia.Guid;
import obvia.Remote;

/** The office. */
public interface IOffice extends Remote {
    /**
     * What it costs to send something of this weight.
     *
     * @param weight from 1 to 20000
     */
    double cost(Class_ class_, int weight);

    /** {@code Print} */
    PrintResult print(Stamp stamp, long number);

    /** What {@link #print} returns. */
    record PrintResult(long number, Stamp printed) {}

    /**
     * {@code Frank}
     *
     * @param seal 16 elements
     */
    void frank(Stamp[] stamps, byte[] seal);

    /**
     * {@code Fetch}
     *
     * @param letters changed in place
     * @return an unsigned long
     */
    int fetch(short[] letters);

    /** {@code List} */
    Stamp[] list();

    /**
     * {@code Send}
     *
     * @param from may be {@code null}
     * @return may be {@code null}
     */
    String send(String to, String from);

    /**
     * {@code Wait}
     *
     * @param reader may be {@code null}
     * @return may be {@code null}
     */
    IReader wait_(IReader reader);

    /**
     * {@code Find}
     *
     * @return may be {@code null}
     */
    Remote find(Guid iid);
}
