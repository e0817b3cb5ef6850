let lost: NodeJS.ErrnoException | undefined;

/**
 * To be called at the start. The reader of the output may leave, as `head` does. Node would end the process for it, in the middle of
 * a copy, or of a command under its lock.
 */
export function outliveReaders(): void {
  process.stderr.on('error', () => {}); // no reader is left to tell
  process.stdout.on('error', (error) => (lost ??= error));
}

/** Data for stdout was lost. */
export function isOutputLost(): boolean {
  return lost !== undefined;
}

/** Why data was lost that a reader may have wanted: a disk is full, say. */
export function outputFailure(): string | undefined {
  return lost === undefined || lost.code === 'EPIPE' ? undefined : lost.message;
}
