import { addressOfNode } from '../cluster-client.js';

/** Which nodes serve which slot, by their names: `host:port`. */
export interface SlotMap {
  /** Of each slot its master, then its replicas. */
  readonly slots: (readonly string[] | undefined)[];
  readonly masters: ReadonlySet<string>;
}

/** From the reply to `CLUSTER SLOTS` of a node at `host`: others without a host are there, too. */
export function slotMapOf(reply: unknown, host: string): SlotMap {
  const slots: (readonly string[] | undefined)[] = [];
  const masters = new Set<string>();
  for (const range of asList(reply)) {
    const [first, last, ...nodes] = asList(range);
    const names = nodes.map((node) => nameOf(asList(node), host));
    if (names.length === 0) throw unusable(range);
    masters.add(names[0]!);
    for (let slot = Number(first); slot <= Number(last); slot++) slots[slot] = names;
  }
  return { slots, masters };
}

/** The node that an answer of a node at `host` names: `10.0.0.1:6379`, or `:6379`. */
export function nameIn(answer: string, host: string): string {
  const named = addressOfNode(answer);
  return nameOf([named.host, named.port], host);
}

function nameOf([named, port]: readonly unknown[], host: string): string {
  const isKnown = typeof named === 'string' && named !== '' && named !== '?';
  return `${isKnown ? named : host}:${Number(port)}`;
}

function asList(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw unusable(value);
}

function unusable(reply: unknown): Error {
  return new Error(`expected the slots of a Cluster, got ${JSON.stringify(reply)}`);
}
