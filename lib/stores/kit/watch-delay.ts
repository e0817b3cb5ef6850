/** Milliseconds that a lock is held before its nodes are watched: most locks are released sooner, and cost nothing more. */
export const WATCH_AFTER = 100;
