package obvia;

/**
 * The base of remote interfaces that are written in IDL: their objects are passed by reference and
 * called across processes. COM's IUnknown.
 */
public interface Remote {}
