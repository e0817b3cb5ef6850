/**
 * A server or a store answered with none of its defined answers. Names the kind of the answer and not its value: it may belong
 * to another caller's request.
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
