import { isShared } from '../../../core/sharing/hold-mode.js';
import { permitsIn, permitsText } from '../../../core/sharing/permits-text.js';
import { readHolder } from '../../kit/asked-holder.js';
import type { HolderText } from '../../kit/asked-holder.js';

/** The value of a node: its holder, and how it wants its key. */
export interface NodeContent {
  readonly holder: string;
  /** As in `AcquireRequest`. */
  readonly permits: number | undefined;
}

const KIND = / (write|read|[1-9]\d*)$/;

/**
 * `host:1:2` for an exclusive node, `host:1:2 read` for a reader, `host:1:2 3` for one of three. A value with a space always ends
 * in a kind, so no holder is mistaken for one.
 */
export function nodeValue({ holder, permits }: NodeContent): Buffer {
  const isPlain = !isShared(permits) && !holder.includes(' ');
  return Buffer.from(isPlain ? holder : `${holder} ${permitsText(permits)}`);
}

/** A value of another shape counts as exclusive: another program wrote it. */
export function readValue(value: Buffer): NodeContent & HolderText {
  const text = value.toString();
  const [all = '', kind = 'write'] = KIND.exec(text) ?? [];
  return { ...readHolder(text.slice(0, text.length - all.length)), permits: permitsIn(kind) };
}
