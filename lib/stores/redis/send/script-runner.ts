import { driverError } from '../../../redis-client/driver-error.js';
import type { RedisClient } from '../../../redis-client/redis-client.js';
import type { SilenceWatch } from '../../../redis-client/silence-watch.js';
import type { RedisScript } from '../../../redis-client/redis-script.js';
import { asNumber } from '../lua/replies.js';
import { SlotMasters } from './slot-masters.js';
import { WriteBatch } from './write-batch.js';

export interface ReplicaOptions {
  readonly replicas: number;
  /** Milliseconds. */
  readonly replicaTimeout: number;
}

/** Is told of commands. */
type Asked = Pick<SilenceWatch, 'asked' | 'isAsked'>;
type Args = readonly (string | number)[];
type Read<T> = (reply: unknown) => T | Promise<T>;
type Failed = (error: unknown) => never;

/** Runs scripts on one client, and waits for its replicas where configured. */
export class ScriptRunner {
  readonly #client: RedisClient;
  readonly #batch: WriteBatch | undefined;
  readonly #options: ReplicaOptions;
  readonly #silence: Asked;
  #flush: (() => void) | undefined;
  readonly #masters: SlotMasters | undefined;

  /** `slotOf` is that of a key on a Cluster. `silence` is told of each command. */
  constructor(
    client: RedisClient,
    options: ReplicaOptions,
    batchWrites: boolean,
    slotOf: (key: string) => number,
    silence: Asked,
  ) {
    this.#client = client;
    this.#options = options;
    this.#silence = silence;
    this.#batch = batchWrites ? new WriteBatch(client) : undefined;
    const needsMasters = client.isCluster && options.replicas > 0;
    this.#masters = needsMasters ? new SlotMasters(client, slotOf) : undefined;
  }

  /** `flush` sends pending batches first, so that commands keep their order. */
  sendFirst(flush: () => void): void {
    this.#flush = flush;
  }

  /** This is one of several clients that are asked at once. */
  joinQuorum(): void {
    this.#batch?.holdWholeTurns();
  }

  /** Resolves with `read` of the reply; a failure goes through `failed`, which throws the rejection. */
  run<T>(
    script: RedisScript,
    keys: readonly string[],
    args: Args,
    read: Read<T>,
    failed?: Failed,
  ): Promise<T> {
    if (!this.#silence.isAsked) this.#silence.asked();
    this.#flush?.();
    this.#batch?.join();
    return script.run(this.#client, keys, args, read, failed);
  }

  /** As `run`, for scripts whose truthy answer counts only once the replicas have the change. */
  change<T>(
    script: RedisScript,
    keys: readonly string[],
    args: Args,
    read: Read<T>,
    failed?: Failed,
  ): Promise<T> {
    if (this.#options.replicas === 0) return this.run(script, keys, args, read, failed);
    this.#silence.asked();
    const answer = this.#masters
      ? this.#masters.run(keys, (master, named) => this.#replicated(master, script, named, args, read)) // prettier-ignore
      : this.#replicated(this.#client, script, keys, args, read);
    return failed ? answer.catch(failed) : answer;
  }

  async #replicated<T>(
    client: RedisClient,
    script: RedisScript,
    keys: readonly string[],
    args: Args,
    read: Read<T>,
  ): Promise<T> {
    const value = await script.run(client, keys, args, read);
    if (value) await this.#awaitReplicas(client);
    return value;
  }

  /** `WAIT` covers the writes of its own connection only, so a reconnect in between makes its answer worthless. */
  async #awaitReplicas(client: RedisClient): Promise<void> {
    const { replicas, replicaTimeout } = this.#options;
    const { stream } = client;
    const reply: unknown = await client.wait(replicas, replicaTimeout).catch(refused);
    if (client.stream !== stream) throw new Error('the connection was lost during WAIT');
    const acknowledged = asNumber(reply);
    if (acknowledged >= replicas) return;
    throw new Error(
      `${acknowledged} of ${replicas} replicas acknowledged within ${replicaTimeout} ms`,
    );
  }
}

function refused(error: unknown): never {
  throw driverError(error);
}
