import { setTimeout as sleep } from 'node:timers/promises';
import { RedlockNodes } from '../../stores/redlock/support/nodes.js';
import { TcpProxy } from '../processes/tcp-proxy.js';

const NODES = 5;
/** Seconds that a node has to be up, by its own word, before it votes: its uptime is in whole seconds. */
const PROBATION = 3;
/** Milliseconds that a node hangs, at most: sometimes until it is suspended. */
const LONGEST_PAUSE = 2_500;
/** Milliseconds by which a node is late, each way: mostly little, now and then much. */
const DELAY = 6;
const LONG_DELAY = 80;

/**
 * Nodes behind proxies that are late by random times. One node at a time loses its data, and votes again before the next one
 * does; another one hangs now and then.
 */
export class TroubledNodes implements AsyncDisposable {
  restarts = 0;
  pauses = 0;
  readonly #nodes: RedlockNodes;
  readonly #proxies: readonly TcpProxy[];
  readonly #random: () => number;
  #restarted: number | undefined;

  /** Resolves once all nodes may vote. */
  static async start(random: () => number): Promise<TroubledNodes> {
    const nodes = await RedlockNodes.start(NODES);
    const proxies = await Promise.all(nodes.servers.map(({ port }) => TcpProxy.start(port)));
    await nodes.upFor(PROBATION);
    return new TroubledNodes(nodes, proxies, random);
  }

  private constructor(nodes: RedlockNodes, proxies: readonly TcpProxy[], random: () => number) {
    this.#nodes = nodes;
    this.#proxies = proxies;
    this.#random = random;
  }

  get urls(): readonly string[] {
    return this.#proxies.map(({ url }) => url);
  }

  /** Makes trouble for so many milliseconds. Resolves when all nodes are well again. */
  async disturb(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    const until = (trouble: () => Promise<void>) => async () => {
      while (performance.now() < end) await trouble();
    };
    const troubles = [() => this.#restart(), () => this.#pause(), () => this.#delay()];
    await Promise.all(troubles.map((trouble) => until(trouble)()));
    for (const proxy of this.#proxies) proxy.pass();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#nodes[Symbol.asyncDispose]();
    await Promise.all(this.#proxies.map((proxy) => proxy.stop()));
  }

  async #restart(): Promise<void> {
    await sleep(this.#random() * 1_000);
    const index = this.#any();
    this.#restarted = index;
    await this.#nodes.servers[index]!.restart();
    this.restarts += 1;
    await this.#nodes.upFor(PROBATION);
    this.#restarted = undefined;
  }

  async #pause(): Promise<void> {
    await sleep(500 + this.#random() * 3_000);
    const index = this.#any();
    if (index === this.#restarted) return;
    this.#nodes.servers[index]!.pause();
    this.pauses += 1;
    await sleep(this.#random() * LONGEST_PAUSE);
    this.#nodes.servers[index]!.resume();
  }

  async #delay(): Promise<void> {
    await sleep(100 + this.#random() * 400);
    const { requests, replies } = this.#proxies[this.#any()]!;
    const longest = this.#random() < 0.1 ? LONG_DELAY : DELAY;
    requests.delay(this.#random() * longest);
    replies.delay(this.#random() * longest);
  }

  #any(): number {
    return Math.floor(this.#random() * NODES);
  }
}
