import { createHash } from 'node:crypto';
import { reasonOf } from '../core/contract/safe-error.js';
import { driverError } from './driver-error.js';

type Argument = string | number | Buffer;

/** The part of a client that a script needs. */
export interface ScriptClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: Argument[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArgs: Argument[]): Promise<unknown>;
}

/** A script sent by its hash, and in full when the server does not know it: first use, `SCRIPT FLUSH`, a restart. */
export class RedisScript {
  readonly #sha1: string;

  constructor(readonly source: string) {
    this.#sha1 = createHash('sha1').update(source).digest('hex');
  }

  /** Resolves with `read` of the reply. A failure, also one of `read`, goes through `failed`, which throws the rejection. */
  run<T>(
    client: ScriptClient,
    keys: readonly string[],
    args: readonly Argument[],
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
