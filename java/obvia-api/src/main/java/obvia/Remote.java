package obvia;

/**
 * The base of remote interfaces that are written in IDL: their objects are passed by reference and
 * called across processes. Corresponds to COM's IUnknown.
 */
public interface Remote {}
