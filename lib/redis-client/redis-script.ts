import { createHash } from 'node:crypto';
import { reasonOf } from '../core/contract/safe-error.js';
import { driverError } from './driver-error.js';

type Argument = string | number | Buffer;

/** The part of a client that a script needs. */
export interface ScriptClient {
  evalsha(sha1: string, keyCount: number, ...keysAndArgs: Argument[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArgs: Argument[]): Promise<unknown>;
}

/**
 * A script. A client sends it in full at its first use, and by its hash from then on, in the same order on one connection: no call is
 * refused and sent again behind later ones. A server that does not know the hash after all (another node of a Cluster, `SCRIPT FLUSH`, a
 * restart) is sent it in full once more.
 */
export class RedisScript {
  readonly #sha1: string;
  readonly #sentBy = new WeakSet<ScriptClient>();

  constructor(readonly source: string) {
    this.#sha1 = createHash('sha1').update(source).digest('hex');
  }

  /** Resolves with `read` of the reply. A failure, also one of `read`, goes through `failed`, which throws the rejection. */
  run<T>(
    client: ScriptClient,
    keys: readonly string[],
    args: readonly Argument[],
    read: (reply: unknown) => T | Promise<T>,
    failed: (error: unknown) => never = rethrow,
  ): Promise<T> {
    const understand = (reply: unknown): T | Promise<T> => {
      try {
        return read(reply);
      } catch (error) {
        return failed(error);
      }
    };
    const inFull = () =>
      client
        .eval(this.source, keys.length, ...keys, ...args)
        .then(understand, (error: unknown) => failed(driverError(error)));
    if (!this.#sentBy.has(client)) {
      this.#sentBy.add(client);
      return inFull();
    }
    return client
      .evalsha(this.#sha1, keys.length, ...keys, ...args)
      .then(understand, (error: unknown) => {
        const isUnknown = error instanceof Error && reasonOf(error).startsWith('NOSCRIPT');
        return isUnknown ? inFull() : failed(driverError(error));
      });
  }
}

export function rethrow(error: unknown): never {
  throw error;
}
