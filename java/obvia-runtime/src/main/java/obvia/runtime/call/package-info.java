/**
 * The parts of a call that are the same over all transports: the context with the deadline, faults,
 * the descriptions of failures, the limit of frames, the pool of the readers and writers of frames,
 * and the log of warnings that peers can cause.
 */
package obvia.runtime.call;
