/** What is in a node: who made it, and in which way it wants its key. */
export interface NodeContent {
  readonly holder: string;
  /** As in `AcquireRequest`. */
  readonly permits: number | undefined;
}

const KIND = / (write|read|[1-9]\d*)$/;

/**
 * `host:1:2` for one that excludes everybody, `host:1:2 read` for a reader, `host:1:2 3` for one of three. What has a space
 * ends in a kind, so no holder is taken for one.
 */
export function nodeValue({ holder, permits }: NodeContent): Buffer {
  const isPlain = permits === undefined && !holder.includes(' ');
  return Buffer.from(isPlain ? holder : `${holder} ${kindOf(permits)}`);
}

/** A value of another shape excludes everybody: it is from somebody else. */
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
