import { createHash } from 'node:crypto';
import { reasonOf } from '../../core/contract/safe-error.js';
import { driverError } from './driver-error.js';
import type { RedisClient } from './redis-client.js';

/** A script that is sent by its hash, and in full when the server does not know it: first use, `SCRIPT FLUSH`, a restart. */
export class RedisScript {
  readonly #sha1: string;

  constructor(readonly source: string) {
    this.#sha1 = createHash('sha1').update(source).digest('hex');
  }

  /** Resolves with what `read` makes of the reply; a failure, also one of `read`, goes through `failed`, which throws what to reject with. */
  run<T>(
    client: RedisClient,
    keys: readonly string[],
    args: readonly (string | number)[],
    read: (reply: unknown) => T,
    failed: (error: unknown) => never = rethrow,
  ): Promise<T> {
    const understand = (reply: unknown): T => {
      try {
        return read(reply);
      } catch (error) {
        return failed(error);
      }
    };
    return client
      .evalsha(this.#sha1, keys.length, ...keys, ...args)
      .then(understand, (error: unknown) => {
        const isUnknown = error instanceof Error && reasonOf(error).startsWith('NOSCRIPT');
        if (!isUnknown) return failed(driverError(error));
        return client
          .eval(this.source, keys.length, ...keys, ...args)
          .then(understand, (second: unknown) => failed(driverError(second)));
      });
  }
}

export function rethrow(error: unknown): never {
  throw error;
}
