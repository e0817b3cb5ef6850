import { systemClock } from '../../../../core/async/clock.js';
import { waitAtMost } from '../../../../core/async/sleep.js';
import { addressOf } from '../node-redis-client.js';
import { addressOfNode } from '../cluster-client.js';
import { NodePort } from './node-port.js';
import { NodeSource } from './node-source.js';
import type { ClientMaker } from './node-source.js';
import { slotMapOf } from './slot-map.js';
import type { SlotMap } from './slot-map.js';

/** Asks a node for the slots. */
export type Teller = () => Promise<SlotMap>;

/** Milliseconds for an answer on a connection that is ready. As ioredis waits by default. */
const SOON = 1_000;
/** Milliseconds for an answer on one that has to be made first. As node-redis waits for a connection by default. */
const LATER = 5_000;

/** The node at the end of a connection of ours, which is ready. */
export function connectedTeller(name: string, node: NodePort): Teller {
  const { host } = addressOfNode(name);
  return async () => slotMapOf(await within(SOON, node.cluster('SLOTS')), host);
}

/** A node that is connected to for this only. */
export function otherTeller(clients: ClientMaker, options: object): Teller {
  return async () => {
    const node = new NodePort(new NodeSource(clients, {}, () => options));
    try {
      const reply = await within(LATER, node.cluster('SLOTS'));
      const { host = 'localhost' } = node.client ? addressOf(node.client) : {};
      return slotMapOf(reply, host);
    } finally {
      node.disconnect();
    }
  };
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  if (await waitAtMost(systemClock, ms, answer)) return answer;
  answer.catch(() => undefined);
  throw new Error(`a node has told no slots within ${ms} ms`);
}

/** Not always the same ones first. */
export function shuffled<T>(list: Iterable<T>): T[] {
  const left = [...list];
  const found: T[] = [];
  while (left.length > 0) found.push(...left.splice(Math.floor(Math.random() * left.length), 1));
  return found;
}
