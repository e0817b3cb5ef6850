import { createHash } from 'node:crypto';
import type { RedisClient } from './redis-client.js';

/** A script that is sent by its hash, and in full when the server does not know it: first use, `SCRIPT FLUSH`, a restart. */
export class RedisScript {
  readonly #sha1: string;

  constructor(readonly source: string) {
    this.#sha1 = createHash('sha1').update(source).digest('hex');
  }

  async run(
    client: RedisClient,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await client.evalsha(this.#sha1, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(this.source, keys.length, ...keys, ...args);
    }
  }
}
