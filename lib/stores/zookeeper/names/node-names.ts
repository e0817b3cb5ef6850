import { READERS, isPermit } from '../../../core/sharing/hold-mode.js';
import { permitsIn, permitsText } from '../../../core/sharing/permits-text.js';
import type { Standing } from '../../kit/place-in-queue.js';

/** One node of a key's queue. */
export interface QueuedNode extends Standing {
  readonly name: string;
  /** The name of the request: everything before the kind. */
  readonly request: string;
  /** Given by the server: grows within one queue, and wraps from 2^31 - 1 to -2^31. */
  readonly sequence: number;
}

const NODE_NAME = /^(.+)-(write|read|permits[1-9]\d*)-(-?\d+)$/;
/** Before a number of permits. */
const PERMITS = 'permits';
const READER_MARK = '-reads';

/**
 * Any text as one element of a path: a character other than `A-Z a-z 0-9 - _ . ! ~ * ' ( )` becomes `%` and the bytes of its
 * UTF-8 form. So does a point at the beginning, because `.` and `..` are no names. `decodeURIComponent` reads it back.
 */
export function pathElement(text: string): string {
  return encodeURIComponent(text).replace(/^\./, '%2E');
}

/** The text in one element of a path. `undefined`: another program has written it. */
export function keyOf(element: string): string | undefined {
  try {
    const text = decodeURIComponent(element);
    return text !== '' && pathElement(text) === element ? text : undefined;
  } catch {
    return undefined; // a `%` that begins no character
  }
}

/** The name of a request's node before the server appends its number. */
export function nodePrefix(token: string, permits: number | undefined): string {
  const kind = isPermit(permits) ? PERMITS : '';
  return `${pathElement(token)}-${kind}${permitsText(permits)}-`;
}

/** The node beside that of a writer that says that it has become a reader. */
export function readerMark(name: string): string {
  return `${name}${READER_MARK}`;
}

/** The nodes of a queue, in order, whatever the order of their names. Names of other shapes do not count. */
export function nodesOf(names: readonly string[]): QueuedNode[] {
  const all = new Set(names);
  return names
    .flatMap((name) => parseNode(name) ?? [])
    .map((node) => (all.has(readerMark(node.name)) ? { ...node, permits: READERS } : node))
    .toSorted(byNumber);
}

/** `undefined` for a node of another program. */
export function parseNode(name: string): QueuedNode | undefined {
  const [, request, kind = '', digits] = NODE_NAME.exec(name) ?? [];
  if (request === undefined) return undefined;
  const permits = permitsIn(kind.replace(PERMITS, ''));
  return { name, request, permits, sequence: Number(digits) };
}

/** Whether no lock has such a node. The server numbers the nodes of a queue from 0, and has `made` so many of them. */
export function isDoubtful(name: string, made: number): boolean {
  const isMark = name.endsWith(READER_MARK);
  const node = parseNode(isMark ? name.slice(0, -READER_MARK.length) : name);
  return !node || (made > 0 && node.sequence >= made);
}

/** The number wraps, so the distance from one to the other decides. */
function byNumber(one: QueuedNode, other: QueuedNode): number {
  return (one.sequence - other.sequence) | 0;
}
