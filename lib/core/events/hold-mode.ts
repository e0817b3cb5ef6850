/** How a lock is held: exclusively, beside other readers, or by one of several permits. */
export type LockHoldMode = 'write' | 'read' | 'permits';

/** `permits` are those of a request. */
export function holdModeOf(permits: number | undefined): LockHoldMode {
  if (permits === undefined) return 'write';
  return permits === Infinity ? 'read' : 'permits';
}
