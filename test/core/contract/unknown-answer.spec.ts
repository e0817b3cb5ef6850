import { UnknownAnswerError } from '../../../lib/core/contract/unknown-answer.js';

describe('An answer that was not understood', () => {
  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [[], 'a list of 0'],
    [[1, 2], 'a list of 2'],
    [{ secret: 5 }, 'an object'],
    ['', 'an empty string'],
    ['QUEUED by another', 'a string'],
    [5, 'a number'],
    [5n, 'a bigint'],
    [true, 'a boolean'],
  ])('is told by its kind: %p', (got, kind) => {
    const { name, message } = new UnknownAnswerError('OK', got);
    expect(name).toBe('UnknownAnswerError');
    expect(message).toBe(`the answer was not understood: expected OK, got ${kind}`);
  });

  it('may come with advice', () => {
    const { message } = new UnknownAnswerError('OK', 5, 'is it a proxy?');
    expect(message).toMatch(/, got a number \(is it a proxy\?\)$/);
  });
});
