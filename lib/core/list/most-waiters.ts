/** Waiters that an inspection names. */
export const MOST_WAITERS = 100;
/** Waiters that a list names of each lock, where each costs the server something. */
export const MOST_LISTED_WAITERS = 10;
