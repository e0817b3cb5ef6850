import { Ballot, TIMEOUT } from '../support/ballot';

const YES = true;
const NO = false;
const DOWN = new Error('ECONNREFUSED');

/** Answers one after another; how many it took until the vote was settled. */
async function decidedBy(ballot: Ballot, answers: readonly (boolean | Error)[]): Promise<number> {
  for (const [index, answer] of answers.entries()) {
    await ballot.answer(index, answer);
    if (ballot.outcome.status === 'fulfilled') return index + 1;
  }
  return Infinity;
}

describe('A vote', () => {
  it.each([
    ['all agree', 5, [YES, YES, YES, YES, YES], 'yes', 3],
    ['a majority agrees at last', 5, [NO, YES, DOWN, YES, YES], 'yes', 5],
    ['one of one agrees', 1, [YES], 'yes', 1],
    ['two of two agree', 2, [YES, YES], 'yes', 2],
    ['three of four agree', 4, [NO, YES, YES, YES], 'yes', 4],
    ['all refuse', 5, [NO, NO, NO, NO, NO], 'no', 3],
    ['a majority refuses', 5, [YES, NO, YES, NO, NO], 'no', 5],
    ['one of two refuses', 2, [YES, NO], 'no', 2],
    ['two of four refuse', 4, [YES, NO, YES, NO], 'no', 4],
    ['a majority answers and does not agree', 5, [DOWN, YES, NO, DOWN, NO], 'no', 5],
    ['one of one refuses', 1, [NO], 'no', 1],
    ['a majority is down', 5, [DOWN, DOWN, DOWN, YES, YES], 'failed', 3],
    ['one of two is down', 2, [YES, DOWN], 'failed', 2],
    ['two of four are down', 4, [YES, DOWN, YES, DOWN], 'failed', 4],
    ['one of one is down', 1, [DOWN], 'failed', 1],
  ] as const)('in which %s, of %i, is settled by the answer that decides', async (...row) => {
    const [, count, answers, outcome, deciding] = row;
    const ballot = new Ballot(count);
    expect(await decidedBy(ballot, answers)).toBe(deciding);
    expect(ballot.outcome.value).toBe(outcome);
  });

  it.each([
    ['a majority agrees', 5, [YES, NO, NO, YES, YES], 'yes', 5],
    ['as many refuse as leave no majority', 5, [YES, NO, NO, YES, NO], 'no', 5],
    ['it is unknown, for too many are down', 5, [YES, NO, NO, YES, DOWN], 'failed', 5],
    ['two of four refuse', 4, [YES, NO, NO], 'no', 3],
    ['two of four are down', 4, [YES, YES, DOWN, DOWN], 'failed', 4],
  ] as const)('that noes decide, in which %s, of %i', async (...row) => {
    const [, count, answers, outcome, deciding] = row;
    const ballot = new Ballot(count, { deciding: count === 4 ? 2 : 3 });
    expect(await decidedBy(ballot, answers)).toBe(deciding);
    expect(ballot.outcome.value).toBe(outcome);
  });

  it('waits longer for the first answer of all: it may be this process that is behind', async () => {
    const ballot = new Ballot(3);
    await ballot.clock.advance(TIMEOUT);
    expect(ballot.outcome.status).toBe('pending');
    await ballot.answer(0, YES);
    await ballot.answer(1, YES);
    expect(ballot.outcome.value).toBe('yes');
  });

  it('says how it stands', async () => {
    const ballot = new Ballot(5);
    await ballot.answer(0, YES);
    await ballot.answer(1, NO);
    await ballot.answer(2, DOWN);
    expect(ballot.said).toEqual(['granted', 'held', 'error ECONNREFUSED', 'no answer yet', 'no answer yet']); // prettier-ignore
    expect(ballot.ended).toBe('1 of 5 nodes granted, 3 were needed');
  });

  it('asks all nodes at once', () => {
    expect(new Ballot(5).asked).toEqual([0, 1, 2, 3, 4]);
  });

  it('ends with its timeout, however many have not answered', async () => {
    const ballot = new Ballot(5);
    await ballot.answer(0, YES);
    await ballot.clock.advance(TIMEOUT - 1);
    expect(ballot.outcome.status).toBe('pending');
    await ballot.clock.advance(1);
    expect(ballot.outcome.value).toBe('failed');
    expect(ballot.said).toEqual(['granted', 'timeout', 'timeout', 'timeout', 'timeout']);
  });

  it('of which a majority answered in time is no failure', async () => {
    const ballot = new Ballot(3);
    await ballot.answer(0, YES);
    await ballot.answer(1, NO);
    expect(ballot.outcome.status).toBe('pending');
    await ballot.clock.advance(TIMEOUT);
    expect(ballot.outcome.value).toBe('no');
  });

  it('needs no timer once all have answered', async () => {
    const ballot = new Ballot(3);
    for (const index of [0, 1, 2]) await ballot.answer(index, YES);
    expect(ballot.timers).toBe(0);
    expect(ballot.clock.pendingTimers).toBe(0);
  });

  it('needs no timer where no node can be asked', () => {
    const ballot = new Ballot(3, {}, (_, __, link) => link.disconnect());
    expect([ballot.timers, ballot.clock.pendingTimers]).toEqual([0, 0]);
  });

  it('counts a node that throws as one that failed, and one that is not asked as a no', async () => {
    const ask = [() => { throw DOWN; }, () => undefined, () => undefined]; // prettier-ignore
    const ballot = new Ballot(3, { ask: ({ name }) => ask[Number(name)]!() });
    await ballot.clock.advance(0);
    expect(ballot.outcome.value).toBe('no');
    expect(ballot.said).toEqual(['error ECONNREFUSED', 'held', 'held']);
  });
});
