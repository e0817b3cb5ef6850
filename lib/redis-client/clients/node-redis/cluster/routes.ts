import { reasonOf } from '../../../../core/contract/safe-error.js';
import { systemClock } from '../../../../core/async/clock.js';
import { sleep } from '../../../../core/async/sleep.js';
import { driverError } from '../../../driver-error.js';
import type { NodePort } from './node-port.js';

/** What a route needs to know of the Cluster. */
export interface RoutedCluster {
  readonly mostRedirections: number;
  /** Missing while it is not known. */
  masterOf(slot: number): NodePort | undefined;
  /** `answer` is the address in the answer of `asked`. */
  nodeAt(answer: string, asked: NodePort): NodePort;
  /** `asked` has said that the slot is at `node`. */
  moved(slot: number, node: NodePort): void;
  /** Reads the slots anew. */
  refresh(): Promise<void>;
  /** Throws where no call can be made any more. */
  checkOpen(): void;
}

interface Call<T> {
  readonly slot: number;
  readonly send: (node: NodePort) => Promise<T>;
}

/** A call on its way. */
interface Sent<T> {
  readonly node?: NodePort | undefined;
  readonly answer: Promise<T>;
}

/** Milliseconds before a call is sent again that no node could serve. As ioredis does by default. */
const PAUSE = 100;
const REDIRECTION = /^(MOVED|ASK) \d+ (\S*:\d+)/;
/** Answers of a node that will serve the slot soon, or that knows no node that does. */
const NOT_NOW = /^(TRYAGAIN|CLUSTERDOWN|LOADING|MASTERDOWN)\b/;

/** Sends calls to the master of their slot, and again where a node sends them elsewhere, or is lost. */
export class ClusterRoutes {
  readonly #cluster: RoutedCluster;

  constructor(cluster: RoutedCluster) {
    this.#cluster = cluster;
  }

  /** Where the master is known, the call leaves at once: calls keep their order. */
  async call<T>(slot: number, send: (node: NodePort) => Promise<T>): Promise<T> {
    const call = { slot, send };
    let sent: Sent<T> = this.#toMaster(call);
    for (let left = this.#cluster.mostRedirections; ; left--) {
      try {
        return await sent.answer;
      } catch (error) {
        if (isFinal(error)) throw error;
        this.#cluster.checkOpen();
        if (left <= 0) throw tooMany(error);
        const again = this.#again(call, sent.node, textOf(error));
        sent = await again.catch((failure: unknown) => ({ answer: Promise.reject(failure) }));
      }
    }
  }

  #toMaster<T>({ slot, send }: Call<T>): Sent<T> {
    const node = this.#cluster.masterOf(slot);
    if (node) return { node, answer: send(node) };
    return { answer: this.#cluster.refresh().then(() => send(this.#knownMaster(slot))) };
  }

  #knownMaster(slot: number): NodePort {
    const node = this.#cluster.masterOf(slot);
    if (node) return node;
    throw new Error(`slot ${slot} has no master`);
  }

  async #again<T>({ slot, send }: Call<T>, asked: NodePort | undefined, text: string) {
    const [, kind, at] = REDIRECTION.exec(text) ?? [];
    if (at === undefined || !asked) {
      await this.#pause(slot, text);
      return this.#toMaster({ slot, send });
    }
    const node = this.#cluster.nodeAt(at, asked);
    if (kind === 'MOVED') this.#cluster.moved(slot, node);
    else node.asking().catch(() => undefined); // the call behind it fails, too
    return { node, answer: send(node) };
  }

  async #pause(slot: number, text: string): Promise<void> {
    await sleep(systemClock, PAUSE);
    this.#cluster.checkOpen();
    if (text.startsWith('TRYAGAIN')) return;
    await this.#cluster.refresh().catch((error: unknown) => {
      if (!this.#cluster.masterOf(slot)) throw error;
    });
  }
}

/** A refusal of the server that no other node would make good. */
function isFinal(error: unknown): boolean {
  const isReply = error instanceof Error && error.name === 'ReplyError';
  return isReply && !REDIRECTION.test(error.message) && !NOT_NOW.test(error.message);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

function tooMany(error: unknown): Error {
  const cause = driverError(error);
  return new Error(`Too many Cluster redirections. Last error: ${reasonOf(cause)}`, { cause });
}
