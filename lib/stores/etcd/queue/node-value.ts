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
  const isPlain = permits === undefined && !holder.includes(' ');
  return Buffer.from(isPlain ? holder : `${holder} ${kindOf(permits)}`);
}

/** A value of another shape counts as exclusive: another program wrote it. */
export function readValue(value: Buffer): NodeContent {
  const text = value.toString();
  const [all = '', kind] = KIND.exec(text) ?? [];
  return { holder: text.slice(0, text.length - all.length), permits: permitsOf(kind) };
}

function kindOf(permits: number | undefined): string {
  if (permits === undefined) return 'write';
  return permits === Infinity ? 'read' : String(permits);
}

function permitsOf(kind: string | undefined): number | undefined {
  if (kind === undefined || kind === 'write') return undefined;
  return kind === 'read' ? Infinity : Number(kind);
}
