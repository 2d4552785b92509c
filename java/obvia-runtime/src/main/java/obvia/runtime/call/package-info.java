/**
 * The parts of a call that are the same over all transports: the context with the deadline, faults,
 * the descriptions of failures, the limit of frames, the pool of their readers and writers, and the
 * log of what peers cause.
 */
package obvia.runtime.call;
