/** How a lock is held: exclusively, beside other readers, or by one of several permits. */
export type LockHoldMode = 'write' | 'read' | 'permits';

/** The permits of readers: any number of them holds a key together. */
export const READERS = Infinity;

/** `permits` are those of a request. */
export function holdModeOf(permits: number | undefined): LockHoldMode {
  if (!isShared(permits)) return 'write';
  return isReader(permits) ? 'read' : 'permits';
}

/** Of readers, and of holders of a permit. */
export function isShared(permits: number | undefined): permits is number {
  return permits !== undefined;
}

export function isReader(permits: number | undefined): boolean {
  return permits === READERS;
}

/** Of holders of one of a number of permits. */
export function isPermit(permits: number | undefined): boolean {
  return isShared(permits) && !isReader(permits);
}
