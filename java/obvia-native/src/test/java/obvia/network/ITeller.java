package obvia.network;

import obvia.Remote;

/** An interface of objects that have a number. */
public interface ITeller extends Remote {
    int tell();
}
