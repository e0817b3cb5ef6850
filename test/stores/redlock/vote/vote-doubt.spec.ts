import type { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import { Ballot, TIMEOUT } from '../support/ballot';

/** Takes the vote from a node. */
function bar(node: RedlockNode, reason: string | undefined): void {
  node.record = { isKnown: true, bar: reason };
}

describe('An answer', () => {
  it('that comes after the decision is handed off, and does not count', async () => {
    const ballot = new Ballot(5);
    for (const index of [0, 1, 2, 3]) await ballot.answer(index, true);
    expect(ballot.agreed).toEqual([[0, true], [1, true], [2, true], [3, false]]); // prettier-ignore
  });

  it('that comes after the timeout is handed off, and changes nothing', async () => {
    const ballot = new Ballot(3);
    await ballot.answer(0, true);
    await ballot.clock.advance(TIMEOUT);
    expect(ballot.outcome.value).toBe('failed');
    await ballot.answer(1, true);
    await ballot.answer(2, new Error('too late, too'));
    expect(ballot.agreed).toEqual([[0, true], [1, false]]); // prettier-ignore
    expect(ballot.said).toEqual(['granted', 'timeout', 'timeout']);
    expect(ballot.ended).toBe('1 of 3 nodes granted, 2 were needed');
  });

  it('of a node without a vote is not asked for', async () => {
    const ballot = new Ballot(3, {}, (node, index) => index < 2 && bar(node, 'quarantined'));
    await ballot.clock.advance(0);
    expect(ballot.asked).toEqual([2]);
    expect(ballot.outcome.value).toBe('failed');
    expect(ballot.said).toEqual(['quarantined', 'quarantined', 'no answer yet']);
  });

  it('of a node that lost its vote meanwhile is handed off, and does not count', async () => {
    const ballot = new Ballot(3);
    bar(ballot.nodes[0]!, 'quarantined');
    await ballot.answer(0, true);
    await ballot.answer(1, true);
    expect(ballot.agreed).toEqual([[0, false], [1, true]]); // prettier-ignore
    expect(ballot.outcome.status).toBe('pending');
    await ballot.answer(2, true);
    expect(ballot.outcome.value).toBe('yes');
    expect(ballot.said[0]).toBe('quarantined');
  });

  it('of a node whose connection was lost between question and answer does not count', async () => {
    const ballot = new Ballot(3);
    ballot.links[0]!.disconnect();
    ballot.links[0]!.connect();
    await ballot.answer(0, true);
    await ballot.answer(1, true);
    expect(ballot.agreed).toEqual([[0, false], [1, true]]); // prettier-ignore
    expect(ballot.outcome.status).toBe('pending');
    expect(ballot.said[0]).toBe('error the connection was lost meanwhile');
  });

  it('that says no does not count either once the connection was lost', async () => {
    const ballot = new Ballot(3);
    ballot.links[0]!.restart();
    await ballot.answer(0, false);
    await ballot.answer(1, false);
    expect(ballot.outcome.status).toBe('pending');
    await ballot.answer(2, false);
    expect(ballot.outcome.value).toBe('no');
  });

  it('of a node without a connection is not asked for', async () => {
    const ballot = new Ballot(3, {}, (_, index, link) => index === 1 && link.disconnect());
    expect(ballot.asked).toEqual([0, 2]);
    expect(ballot.said[1]).toBe('refused (not connected)');
  });

  it('of a node without a vote counts where all are asked, as for a release', async () => {
    const ballot = new Ballot(3, { asksBarred: true }, (node) => bar(node, 'quarantined'));
    await ballot.answer(0, true);
    await ballot.answer(1, true);
    expect(ballot.outcome.value).toBe('yes');
  });
});
