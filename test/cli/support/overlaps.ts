interface Span {
  readonly command: string;
  first: bigint;
  last: bigint;
}

/** Reads the lines of `beat.cjs`: how many commands ran, and which of them ran at the same time. */
export function overlapsOf(text: string): { commands: number; overlaps: string[] } {
  const spans = new Map<string, Span>();
  for (const line of text.split('\n').filter(Boolean)) {
    const [command = '', moment = '0'] = line.split(' ');
    const at = BigInt(moment);
    const span = spans.get(command);
    if (!span) spans.set(command, { command, first: at, last: at });
    else {
      if (at > span.last) span.last = at;
      if (at < span.first) span.first = at;
    }
  }
  const inOrder = [...spans.values()].toSorted((a, b) => (a.first < b.first ? -1 : 1));
  const overlaps: string[] = [];
  let latest: Span | undefined;
  for (const span of inOrder) {
    if (latest && span.first < latest.last)
      overlaps.push(
        `${span.command} began ${latest.last - span.first} ns before the end of ${latest.command}`,
      );
    if (!latest || span.last > latest.last) latest = span;
  }
  return { commands: spans.size, overlaps };
}
