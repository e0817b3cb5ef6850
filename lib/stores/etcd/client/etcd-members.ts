import { inRootContext } from '../../../core/async/root-context.js';
import { sleep } from '../../../core/async/sleep.js';
import type { Clock } from '../../../core/async/clock.js';
import { withoutSecrets } from '../../../core/contract/safe-error.js';
import { unless, within } from './bounded.js';
import { checked } from './etcd-answers.js';
import type { CallOptions, EtcdClient, EtcdFlow } from './etcd-client.js';
import { isAnswer, isRefusal } from './etcd-refusal.js';
import { deadlineIn } from './open-client.js';

export type Call<T> = (client: EtcdClient, options: CallOptions) => Promise<T>;

/** No caller waits that long: this frees the memory of a call that has no answer. */
const DEADLINES = 10;
/** Part of the time for an answer: the pause before another member is asked, or the same one again. */
const PAUSE_PART = 10;

/** A connection to one member, and its calls and streams. */
export class EtcdConnection {
  readonly client: EtcdClient;
  readonly #streams = new Set<EtcdFlow>();
  #isClosed = false;

  constructor(client: EtcdClient) {
    this.client = client;
  }

  /** Ends with the connection. `ended` is called once, however it ends. */
  keep(stream: EtcdFlow, ended: () => void): void {
    const end = () => {
      if (this.#streams.delete(stream)) ended();
    };
    this.#streams.add(stream);
    stream.on('error', end);
    stream.on('end', end);
    if (this.#isClosed) stream.cancel();
  }

  close(): void {
    this.#isClosed = true;
    for (const stream of this.#streams) stream.cancel();
    this.client.close();
  }
}

/**
 * The members of a cluster. All calls go to one of them. When it fails, all connections to it are given up, and the next one is
 * asked: without that, a member that hangs would leave its watches silent.
 */
export class EtcdMembers {
  /** Milliseconds for one answer of one member. */
  readonly timeout: number;
  readonly #hosts: readonly string[];
  readonly #open: (host: string) => Promise<EtcdClient>;
  readonly #clock: Clock;
  #index = 0;
  #current: Promise<EtcdConnection> | undefined;
  #opened: EtcdConnection | undefined;
  #isClosed = false;

  constructor(
    hosts: readonly string[],
    open: (host: string) => Promise<EtcdClient>,
    clock: Clock,
    timeout: number,
  ) {
    this.#hosts = hosts;
    this.#open = open;
    this.#clock = clock;
    this.timeout = timeout;
    this.#index = Math.floor(Math.random() * hosts.length);
  }

  get count(): number {
    return this.#hosts.length;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  connection(): Promise<EtcdConnection> {
    if (this.#isClosed) return Promise.reject(new Error('the store was closed'));
    if (this.#current) return this.#current;
    const opening = inRootContext(() => this.#connect(this.#hosts[this.#index]!));
    this.#current = opening;
    opening.catch(() => {
      if (this.#current === opening) this.#next();
    });
    return opening;
  }

  /** Something on this connection failed. Does nothing when it was given up before. */
  failed(connection: EtcdConnection): void {
    if (this.#opened !== connection) return;
    this.#next();
    connection.close();
  }

  /** One call to one member. After an error that is no refusal, it may still take effect. */
  async once<T>(call: Call<T>): Promise<T> {
    const connection = await this.connection();
    try {
      const options = { deadline: deadlineIn(DEADLINES * this.timeout) };
      const answer = inRootContext(() => call(connection.client, options)); // it may have to connect
      return await within(this.#clock, this.timeout, answer);
    } catch (error) {
      if (!isAnswer(error)) this.failed(connection);
      throw withoutSecrets(error);
    }
  }

  /** Asks each member, and the first one again. For calls that may be repeated. */
  async ask<T>(call: Call<T>): Promise<T> {
    for (let left = this.count; ; left--) {
      try {
        return await this.once(call);
      } catch (error) {
        if (left <= 0 || isRefusal(error) || this.#isClosed) throw error;
        await this.pause();
      }
    }
  }

  /**
   * Asks until there is an answer, or `signal` aborts: then it rejects with its reason. For calls that may be repeated.
   * `isFinal`: the errors after which it gives up. After a refusal that is not final it pauses, each time longer.
   */
  async insist<T>(call: Call<T>, signal: AbortSignal, isFinal = isRefusal): Promise<T> {
    for (let refusals = 0; ;) {
      signal.throwIfAborted();
      try {
        return await unless(signal, this.once(call));
      } catch (error) {
        if (signal.aborted || isFinal(error) || this.#isClosed) throw error;
        await this.pause(signal, isAnswer(error) ? 2 ** refusals++ : 1);
      }
    }
  }

  /** Whether `work` is done within the time of one answer. Otherwise it goes on. Never rejects. */
  isInTime(work: Promise<unknown>): Promise<boolean> {
    return within(this.#clock, this.timeout, work).then(
      () => true,
      () => false,
    );
  }

  pause(signal?: AbortSignal, times = 1): Promise<void> {
    const ms = Math.min((times * this.timeout) / PAUSE_PART, this.timeout);
    return sleep(this.#clock, ms, signal, true);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const current = this.#current;
    this.#current = undefined;
    (await current?.catch(() => undefined))?.close();
  }

  async #connect(host: string): Promise<EtcdConnection> {
    const client = await this.#open(host).catch((error: unknown) => {
      throw withoutSecrets(error);
    });
    const connection = new EtcdConnection(checked(client));
    this.#opened = connection;
    return connection;
  }

  #next(): void {
    this.#index = (this.#index + 1) % this.#hosts.length;
    this.#current = undefined;
    this.#opened = undefined;
  }
}
