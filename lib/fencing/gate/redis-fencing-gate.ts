import { clientKeyPrefix } from '../../redis-client/redis-client.js';
import type { ScriptClient } from '../../redis-client/redis-script.js';
import type { SilenceWatch } from '../../redis-client/silence-watch.js';
import { watchSilence } from '../../redis-client/watch-silence.js';
import type { ReconnectingClient } from '../../redis-client/watch-silence.js';
import { checkKey } from '../../core/keys/lock-keys.js';
import { LockKeyError } from '../../core/contract/lock-errors.js';
import { show } from '../../core/options/option-values.js';
import { optionError } from '../../core/options/option-error.js';
import { aWhole, checkOptions } from '../../core/options/option-rules.js';
import type { OptionRules } from '../../core/options/option-rules.js';
import { checkHolder } from '../holder/fenced-holder.js';
import type { FencedHolder } from '../holder/fenced-holder.js';
import type { TokenGate } from './fencing-gate.js';
import { LockStaleError } from '../holder/fencing-errors.js';
import { entryFrom, forgottenFrom } from './gate-replies.js';
import { FENCED, FORGET } from './gate-scripts.js';
import { guardKey } from './guard-keys.js';
import { checkCommand } from './guarded-command.js';
import type { Argument } from './guarded-command.js';

/** The part of an ioredis client (5 or 6, `Redis` or `Cluster`) that is used. */
export interface RedisGateClient extends ReconnectingClient, ScriptClient {
  readonly options?: ClientOptions | undefined;
}

interface ClientOptions {
  readonly keyPrefix?: string | undefined;
  readonly retryStrategy?: unknown;
  readonly redisOptions?: { readonly keyPrefix?: string | undefined } | undefined;
}

export interface RedisFencingGateOptions {
  /**
   * Milliseconds after its last use that a token is forgotten: longer than the longest pause of a holder that is to be
   * survived. `Infinity`: never, for keys that no stranger chooses.
   * @default 604_800_000, seven days
   */
  readonly keepFor?: number | undefined;
  /**
   * Milliseconds for which the server may answer nothing that it was asked, before its connection is given up and the client
   * connects anew: a server that hangs closes no connection, and a failover would go unnoticed. `Infinity` never gives one up:
   * for a client that shares its connection with commands that block.
   * @default 3_000
   */
  readonly silenceTimeout?: number | undefined;
}

const SEVEN_DAYS = 604_800_000;

const RULES: OptionRules<RedisFencingGateOptions> = {
  keepFor: aWhole('ms', { from: 1, to: Infinity, orInfinity: true }),
  silenceTimeout: aWhole('ms', { from: 1, orInfinity: true }),
};

/** The largest token seen for each key, in Redis: for data that lives there, and for a gate that several processes share. */
export class RedisFencingGate implements TokenGate {
  readonly #client: RedisGateClient;
  readonly #keepFor: number;
  readonly #silence: SilenceWatch;

  /** `client` stays yours: it is never closed here. Throws `TypeError` or `RangeError` naming the option. */
  constructor(client: RedisGateClient, options: RedisFencingGateOptions = {}) {
    if (typeof client?.evalsha !== 'function') {
      throw optionError('RedisFencingGate expects an ioredis client');
    }
    checkOptions('RedisFencingGate', options, RULES, '{ keepFor: 86_400_000 }');
    const { keepFor = SEVEN_DAYS, silenceTimeout = 3_000 } = options;
    this.#client = client;
    this.#silence = watchSilence(client, () => [], silenceTimeout);
    this.#keepFor = keepFor === Infinity ? 0 : keepFor;
  }

  /** Leaves the token. Rejects with `LockStaleError` when a larger one of the key was here, with `LockKeyError` for a bad key. */
  async enter(holder: FencedHolder): Promise<void> {
    const { key } = checkHolder(holder);
    const guard = this.#guardOf(key, key);
    if (guard !== undefined) return void (await this.#run(holder, guard, key, []));
    throw new LockKeyError(`the key of a guard has no "}" outside of "{…}", got ${show(key)}`, key);
  }

  /**
   * Sends one command and leaves the token, in one step: `call(lock, '{order:42}:total', 'SET', 17)`. The command's first
   * argument, and no other, is a key. Resolves with its reply; rejects with `LockStaleError`, and nothing is done, when a
   * larger token of `holder.key` was left. In a Cluster and elsewhere, keys share what is left by their hash tag: give
   * the same one to all that a lock protects.
   *
   * Rejects with `TypeError` for a key, a command or an argument that is a list, or of another type; with `RangeError` for a
   * key whose guard cannot be in its slot, or that is one of a guard.
   */
  async call(
    holder: FencedHolder,
    key: string,
    command: string,
    ...args: readonly Argument[]
  ): Promise<unknown> {
    checkCommand(key, command, args);
    const guard = this.#guardOf(checkHolder(holder).key, key);
    if (guard !== undefined) return this.#run(holder, guard, key, [command, ...args]);
    throw new RangeError(
      `the guard of key ${show(key)} cannot be put into its Cluster slot: give the key a hash tag, as in "{order:42}:total"`,
    );
  }

  /**
   * Lets any token of the lock in again: after a forged one, say. `dataKey` is one of those that `call` was given. Resolves
   * with whether a token was kept.
   */
  async forget(key: string, dataKey: string = key): Promise<boolean> {
    const guard = this.#guardOf(checkKey(key), checkKey(dataKey));
    if (guard === undefined) return false;
    this.#silence.asked();
    return FORGET.run(this.#client, [guard], [], (reply) => forgottenFrom(key, reply));
  }

  async #run(
    holder: FencedHolder,
    guard: string,
    dataKey: string,
    command: readonly Argument[],
  ): Promise<unknown> {
    const { key, fencingToken } = checkHolder(holder);
    const args = [String(fencingToken), this.#keepFor, ...command];
    this.#silence.asked();
    const entry = await FENCED.run(this.#client, [guard, dataKey], args, (reply) =>
      entryFrom(key, reply, command.length > 0),
    );
    if ('result' in entry) return entry.result;
    throw new LockStaleError(key, fencingToken, entry.newest);
  }

  #guardOf(lockKey: string, dataKey: string): string | undefined {
    return guardKey(lockKey, dataKey, clientKeyPrefix(this.#client));
  }
}
