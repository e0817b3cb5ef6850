import { finished } from 'node:stream';
import type { Readable } from 'node:stream';

/** Node has stopped to read a source for a response that is over. Others may read on, or it is closing. */
export async function closedSource(source: Readable): Promise<void> {
  await new Promise(setImmediate); // `pipeline` destroys it when it hears of the same event
  const isIdle = !source.destroyed && source.readableFlowing !== true;
  if (isIdle || source.closed) return;
  await ended(source);
}

/** A closed response takes nothing: Node stops to read what is piped into it at the first chunk, or does not begin. */
export async function refusedSource(source: Readable): Promise<void> {
  const end = ended(source);
  await new Promise(setImmediate);
  while (source.readableFlowing === true && !source.destroyed && !source.readableEnded) {
    await Promise.race([end, new Promise((resolve) => source.once('pause', resolve))]);
    await new Promise(setImmediate); // it may be paused and read on in one go
  }
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
