/** `write` excludes everybody, `read` only those that write. */
export type LockMode = 'read' | 'write';

/** One node of a key's line. */
export interface LineNode {
  readonly name: string;
  /** What names the request: everything before the mode. */
  readonly request: string;
  readonly mode: LockMode;
  /** Given by the server: grows within one line, and wraps from 2^31 - 1 to -2^31. */
  readonly sequence: number;
}

const NODE_NAME = /^(.+)-(read|write)-(-?\d+)$/;

/**
 * Any text as one element of a path: what is not `A-Z a-z 0-9 - _ . ! ~ * ' ( )` becomes `%` and the bytes of its UTF-8 form,
 * as does a point at the beginning, for `.` and `..` are no names. `decodeURIComponent` reads it back.
 */
export function pathElement(text: string): string {
  return encodeURIComponent(text).replace(/^\./, '%2E');
}

/** What the node of a request is called before the server appends its number. */
export function nodePrefix(token: string, mode: LockMode): string {
  return `${pathElement(token)}-${mode}-`;
}

/** `undefined` for a node that is none of ours. */
export function parseNode(name: string): LineNode | undefined {
  const [, request, mode, digits] = NODE_NAME.exec(name) ?? [];
  if (request === undefined) return undefined;
  return { name, request, mode: mode as LockMode, sequence: Number(digits) };
}
