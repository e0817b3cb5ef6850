import { finished } from 'node:stream';
import type { Readable } from 'node:stream';

/** Node has stopped to read a source for a response that is over. Others may read on, or it is closing. */
export async function closedSource(source: Readable): Promise<void> {
  await new Promise(setImmediate); // `pipeline` destroys it when it hears of the same event
  const isIdle = !source.destroyed && source.readableFlowing !== true;
  if (isIdle || source.closed) return;
  await ended(source);
}

/** A closed response takes nothing, and says so only at the first chunk, which may never come: nothing reads for it any more. */
export async function refusedSource(source: Readable, response: object): Promise<void> {
  await new Promise(setImmediate); // `pipe` goes on after it has told of itself
  source.unpipe(response as NodeJS.WritableStream);
  await closedSource(source);
}

/** Resolves when it has been read, or is closed for another reason. */
export function ended(source: Readable): Promise<void> {
  return new Promise((resolve) => {
    const forget = finished(source, { writable: false }, () => {
      forget();
      resolve();
    });
  });
}
