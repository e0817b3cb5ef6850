import type { Machine } from '../world/machine.js';
import type { RedisSite } from './redis-site.js';
import { ReplyError, type Subscriber } from './server/simulated-redis.js';
import type { Pending, SimulatedClient } from './simulated-client.js';

type Way = 'there' | 'back';

/** One connection: what is sent arrives in its order, or not at all once it is cut. */
export class Connection implements Subscriber {
  readonly channels = new Set<string>();
  bytesRead = 0;
  destroyed = false;
  readonly #site: RedisSite;
  readonly #machine: Machine;
  readonly #client: SimulatedClient;
  readonly #arrivals: Record<Way, number> = { there: 0, back: 0 };
  /** The client reads nothing more. */
  #isDeaf = false;

  constructor(site: RedisSite, machine: Machine, client: SimulatedClient) {
    this.#site = site;
    this.#machine = machine;
    this.#client = client;
    site.server.subscribers.add(this);
    site.connections.add(this);
  }

  get machine(): Machine {
    return this.#machine;
  }

  /** Runs `then` once the server has answered. */
  opened(then: () => void): void {
    this.#carry('there', () => this.#carry('back', () => !this.destroyed && then()));
  }

  send(pending: Pending): void {
    const { server } = this.#site;
    this.#carry('there', () => {
      const [name, ...args] = pending.words as [string, ...(string | number)[]];
      const answer = this.#answer(name, args);
      if (server === this.#site.server) this.#reply(pending, answer);
    });
  }

  message(channel: string, text: string): void {
    this.#carry('back', () => this.#client.emit('message', channel, text));
  }

  /** The server forgets it, once it has what is on its way. */
  end(): void {
    this.destroyed = true;
    this.#isDeaf = true;
    this.#carry('there', () => this.#forgotten());
  }

  /** As of `net.Socket`. */
  destroy(): void {
    if (this.destroyed) return;
    this.end();
    setTimeout(() => this.#client.lost(), 0);
  }

  /** Both ends learn of it. Bytes that the server has not got yet are lost. */
  cut(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.#isDeaf = true;
    this.#forgotten();
    const { world } = this.#site;
    world.at(world.now, () => this.#machine.take('message', () => this.#client.lost()));
  }

  #forgotten(): void {
    this.#site.server.subscribers.delete(this);
    this.#site.connections.delete(this);
  }

  #answer(name: string, args: readonly (string | number)[]): () => unknown {
    if (name === 'subscribe') this.channels.add(String(args[0]));
    if (name === 'unsubscribe') this.channels.delete(String(args[0]));
    if (name.endsWith('subscribe')) return () => 1;
    try {
      const reply = this.#site.server.command(name, ...args);
      return () => reply;
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error;
      error.command = { name };
      return () => {
        throw error;
      };
    }
  }

  #reply(pending: Pending, answer: () => unknown): void {
    this.#carry('back', () => {
      this.bytesRead++;
      this.#client.commandQueue.splice(this.#client.commandQueue.indexOf(pending), 1);
      try {
        pending.resolve(answer());
      } catch (error) {
        pending.reject(error);
      }
    });
  }

  /** In order. A connection that was cut carries nothing more to the client, and to the server what was sent before. */
  #carry(way: Way, arrive: () => void): void {
    const at = Math.max(this.#arrivals[way], this.#site.arrival(this.#machine));
    this.#arrivals[way] = at;
    const isGone = () => (way === 'back' ? this.#isDeaf : !this.#site.connections.has(this));
    const to = way === 'back' ? this.#machine : this.#site.server.machine;
    this.#site.world.at(at, () => (isGone() ? undefined : to.take('message', () => isGone() || arrive()))); // prettier-ignore
  }
}
