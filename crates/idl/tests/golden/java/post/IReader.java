// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.
package post;

import obvia.Remote;

/** Somebody who waits for something. */
public interface IReader extends Remote {
    /** {@code Arrived} */
    void arrived(int letter);
}
