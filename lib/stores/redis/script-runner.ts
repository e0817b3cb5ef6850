import type { RedisClient } from './redis-client.js';
import type { RedisScript } from './redis-script.js';
import { WriteBatch } from './write-batch.js';

export interface ReplicaOptions {
  readonly replicas: number;
  /** Milliseconds. */
  readonly replicaTimeout: number;
}

type Args = readonly (string | number)[];

/** Runs scripts on one client, and waits for its replicas where that is wanted. */
export class ScriptRunner {
  readonly #client: RedisClient;
  readonly #batch: WriteBatch | undefined;
  readonly #options: ReplicaOptions;

  constructor(client: RedisClient, options: ReplicaOptions, batchWrites: boolean) {
    this.#client = client;
    this.#options = options;
    this.#batch = batchWrites ? new WriteBatch(client) : undefined;
  }

  /** Resolves with what `read` makes of the reply; a failure goes through `failed`, which throws what to reject with. */
  run<T>(
    script: RedisScript,
    keys: readonly string[],
    args: Args,
    read: (reply: unknown) => T,
    failed?: (error: unknown) => never,
  ): Promise<T> {
    this.#batch?.join();
    return script.run(this.#client, keys, args, read, failed);
  }

  get needsReplicas(): boolean {
    return this.#options.replicas > 0;
  }

  /** An answer that changed something counts only once the replicas have the change. */
  acknowledged<T>(answer: Promise<T>): Promise<T> {
    return this.needsReplicas ? this.#acknowledged(answer) : answer;
  }

  async #acknowledged<T>(answer: Promise<T>): Promise<T> {
    const value = await answer;
    if (value) await this.#awaitReplicas();
    return value;
  }

  /** `WAIT` speaks of the writes of its own connection only, so a reconnect in between makes its answer worthless. */
  async #awaitReplicas(): Promise<void> {
    const { replicas, replicaTimeout } = this.#options;
    const { stream } = this.#client;
    const acknowledged = await this.#client.wait(replicas, replicaTimeout);
    if (this.#client.stream !== stream) throw new Error('the connection was lost during WAIT');
    if (acknowledged >= replicas) return;
    throw new Error(
      `${acknowledged} of ${replicas} replicas acknowledged within ${replicaTimeout} ms`,
    );
  }
}
