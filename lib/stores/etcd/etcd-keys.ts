import { randomBytes } from 'node:crypto';

/** Not part of any token, nor of what an encoded key may contain. */
const NODE_MARK = '~';
/** Ends the name of a queue. No prefix and no encoded key has it within. */
export const QUEUE_MARK = '/@';

/**
 * What is called what in etcd. Each lock has a queue, a range of its own: `<prefix><encoded key>/@`. In it stands one node per
 * contender, `<token>~<random>`. No queue lies within the range of another one, of this prefix or any other: the name of a node
 * tells where its queue ends, by the first `/@`, and where its prefix ends, by the `/` before it.
 */
export class EtcdKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  }

  queue(key: string): Queue {
    const start = `${this.#prefix}${encodeURIComponent(key)}${QUEUE_MARK}`;
    return {
      start,
      range: { key: Buffer.from(start), range_end: Buffer.from(`${start.slice(0, -1)}A`) },
    };
  }

  /** Counts how often this session had to make sure that a request of its own can take effect no more. */
  guard(session: string): Buffer {
    return Buffer.from(`${this.#prefix}%session/${session}`); // `%s` is nothing that a key is encoded to
  }
}

export interface Queue {
  readonly start: string;
  /** All nodes of the queue: `A` is the character after `@`. */
  readonly range: { readonly key: Buffer; readonly range_end: Buffer };
}

/** A node has another name whenever it is asked for, so that what is done to one by name never meets a later one. */
export function newNode({ start }: Queue, token: string): Buffer {
  return Buffer.from(`${start}${token}${NODE_MARK}${randomBytes(6).toString('base64url')}`);
}

/** Whose node it is. */
export function isNodeOf({ start }: Queue, token: string, node: Buffer): boolean {
  const name = node.toString().slice(start.length);
  return name.slice(0, name.lastIndexOf(NODE_MARK)) === token;
}
