/**
 * The classes to which generated proxies and stubs refer, and the interface to the transports of
 * calls.
 *
 * <p>{@link obvia.runtime.InterfaceInfo} describes an interface. {@link obvia.runtime.Proxy} and
 * {@link obvia.runtime.Channel} are the caller's side of a call, {@link obvia.runtime.InCall} is
 * the object's side. Frames with flat arguments are written by {@link obvia.runtime.FrameWriter}
 * and read by {@link obvia.runtime.FrameReader}, frames of structures with pointers by
 * {@link obvia.runtime.GraphWriter} and {@link obvia.runtime.GraphReader}. Objects of other
 * processes are reached by a {@link obvia.runtime.Transport}.
 */
package obvia.runtime;
