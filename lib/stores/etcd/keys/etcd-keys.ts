import { randomBytes } from 'node:crypto';

/** Not part of any token or encoded key. */
const NODE_MARK = '~';
/** Ends the name of a queue. No prefix and no encoded key contains it. */
export const QUEUE_MARK = '/@';

/** From it on to itself: all names. */
const FIRST = Buffer.from([0]);

/**
 * The names of keys in etcd. Each lock has a queue, a range of its own: `<prefix><encoded key>/@`. It has one node per contender,
 * `<token>~<random>`. No queue lies within the range of another one, of this prefix or any other: in the name of a node, the
 * queue ends at the first `/@`, and the prefix ends at the `/` before it.
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

  /** The names of all nodes in queues of keys that begin with `text`, and other names that begin so. */
  namesFrom(text: string): NameRange {
    const start = this.#prefix + (text.isWellFormed() ? encodeURIComponent(text) : '');
    if (start === '') return { key: FIRST, range_end: FIRST };
    const key = Buffer.from(start);
    const range_end = Buffer.from(key);
    range_end[key.length - 1]!++; // a byte of UTF-8 is not the largest one
    return { key, range_end };
  }

  /** The key in whose queue there is a node of this name. `undefined`: none of this prefix. */
  keyOf(node: Buffer): string | undefined {
    const name = node.toString();
    const end = name.indexOf(QUEUE_MARK);
    if (end < 0 || !name.startsWith(this.#prefix)) return undefined;
    const encoded = name.slice(this.#prefix.length, end);
    try {
      const key = decodeURIComponent(encoded);
      return key !== '' && encodeURIComponent(key) === encoded ? key : undefined;
    } catch {
      return undefined; // a `%` that begins no character
    }
  }

  get prefix(): string {
    return this.#prefix;
  }

  /** Counts how often this session had to make sure that a request of its own can no longer take effect. */
  guard(session: string): Buffer {
    return Buffer.from(`${this.#prefix}%session/${session}`); // no key is encoded to `%s`
  }
}

export interface Queue {
  readonly start: string;
  /** All nodes of the queue: `A` is the character after `@`. */
  readonly range: NameRange;
}

/** From `key` on, to before `range_end`. */
export interface NameRange {
  readonly key: Buffer;
  readonly range_end: Buffer;
}

/** A node gets another name each time it is asked for, so that a deletion by name never meets a later one. */
export function newNode({ start }: Queue, token: string): Buffer {
  return Buffer.from(`${start}${token}${NODE_MARK}${randomBytes(6).toString('base64url')}`);
}

/** The token of the node's owner. */
export function isNodeOf({ start }: Queue, token: string, node: Buffer): boolean {
  const name = node.toString().slice(start.length);
  return name.slice(0, name.lastIndexOf(NODE_MARK)) === token;
}
