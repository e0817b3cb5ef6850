/**
 * - `LOCK_COPY_REFUSED`: the servers are not ready for a copy; nothing was changed
 * - `LOCK_COPY_UNDONE`: the copy failed or took too long, and was undone: the old server serves again
 * - `LOCK_COPY_CUT_OFF`: the copy failed, and a server could not be reached to undo or to finish it: call `settleRedisCopy`
 */
export type CopyErrorCode = 'LOCK_COPY_REFUSED' | 'LOCK_COPY_UNDONE' | 'LOCK_COPY_CUT_OFF';

export class CopyError extends Error {
  constructor(
    readonly code: CopyErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'CopyError';
  }
}

export function refuse(why: string): never {
  throw new CopyError('LOCK_COPY_REFUSED', why);
}

export function cutOff(state: string, cause: unknown): CopyError {
  return new CopyError('LOCK_COPY_CUT_OFF', `The copy was cut off, and ${state}: settle it, by settleRedisCopy or "holdfast migrate copy --settle"`, { cause }); // prettier-ignore
}
