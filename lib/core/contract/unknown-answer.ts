/**
 * A server, or a store, answered something that is none of its answers. Names the kind of what came, and not its value: it may be
 * the answer to somebody else's question.
 */
export class UnknownAnswerError extends Error {
  constructor(expected: string, got: unknown, advice?: string) {
    const because = advice === undefined ? '' : ` (${advice})`;
    super(`the answer was not understood: expected ${expected}, got ${kindOf(got)}${because}`);
    this.name = 'UnknownAnswerError';
  }
}

function kindOf(value: unknown): string {
  if (value === null || typeof value === 'undefined') return String(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'an object';
  return value === '' ? 'an empty string' : `a ${typeof value}`;
}
