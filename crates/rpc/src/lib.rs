//! Calls: binding, opnums, call ids, faults and deadlines over any provider.
