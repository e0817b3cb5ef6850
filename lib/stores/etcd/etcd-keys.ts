import { randomBytes } from 'node:crypto';

/** Not part of any token, nor of what an encoded key may contain. */
const NODE_MARK = '~';

/**
 * What is called what in etcd. Each lock has a queue, a range of its own: `<prefix><encoded key>/`. In it stands one node per
 * contender, `<token>~<random>`. The encoded key has no `/`, so no queue lies within the range of another one.
 */
export class EtcdKeys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  queue(key: string): Queue {
    const start = `${this.#prefix}${encodeURIComponent(key)}/`;
    return {
      start,
      range: { key: Buffer.from(start), range_end: Buffer.from(`${start.slice(0, -1)}0`) },
    };
  }

  /** Counts how often this session had to make sure that a request of its own can take effect no more. */
  guard(session: string): Buffer {
    return Buffer.from(`${this.#prefix}%session/${session}`); // `%s` is nothing that a key is encoded to
  }
}

export interface Queue {
  readonly start: string;
  /** All nodes of the queue: `0` is the character after `/`. */
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
