import type { Question } from '../../../../lib/stores/redlock/vote/vote';
import { deferred, rejectionOf } from '../../../core/support/outcome';
import { aRequest } from '../../redis/locks';
import { queueQuorum } from '../support/quorum-of';

const TTL = 1_000;

/** Three nodes, of which each answers when a test says so. */
function own() {
  const { quorum, clock, links, nodes } = queueQuorum(3);
  const answers = nodes.map(() => deferred<boolean>());
  const question: Question<boolean> = {
    ask: (node) => answers[nodes.indexOf(node)]!.promise,
    isYes: Boolean,
    words: { yes: 'granted', no: 'held' },
  };
  const request = aRequest('a');
  const ask = (...said: boolean[]) => {
    said.forEach((each, index) => answers[index]!.resolve(each));
    return quorum.ask(question, TTL, request);
  };
  return { quorum, clock, links, nodes, answers, request, ask };
}

describe('The report of the last vote on a request', () => {
  it('is kept of one that was refused', async () => {
    const { quorum, request, ask } = own();
    expect(await ask(false, false, true)).toBe('no');
    expect(quorum.report(request)!.ended).toMatch(/^[01] of 3 nodes granted, 2 were needed$/);
    expect(quorum.report({ ...request })).toBeUndefined();
  });

  it('is kept of one that has failed', async () => {
    const { quorum, request, ask, answers } = own();
    for (const { reject } of answers) reject(new Error('down'));
    await rejectionOf(ask());
    const { nodes } = quorum.report(request)!;
    expect(nodes).toEqual(['n0', 'n1', 'n2'].map((node) => ({ node, said: 'error down' })));
  });

  it.each([
    [TTL / 2 - 1, false],
    [TTL / 2, true],
  ])('is kept of a success after %i ms: %s', async (ms, isKept) => {
    const { quorum, request, ask, clock } = own();
    const asked = ask();
    clock.jump(ms);
    await ask(true, true, true);
    expect(await asked).toBe('yes');
    expect(quorum.report(request) !== undefined).toBe(isKept);
  });

  it('says what is wrong with a node by now', async () => {
    const { quorum, request, ask, links, nodes } = own();
    await ask(false, false, false);
    links[0]!.disconnect();
    nodes[1]!.record = { isKnown: true, bar: 'quarantined' };
    const said = quorum.report(request)!.nodes.map((each) => each.said);
    expect(said).toEqual(['refused (not connected)', 'quarantined', 'held']);
  });
});

describe('The nodes of a Redlock', () => {
  it('have fencing tokens where all have, and need as many refusals as leave no majority', () => {
    expect(queueQuorum(5).quorum).toMatchObject({ fences: true, majority: 3, refusal: 3 });
    expect(queueQuorum(4).quorum).toMatchObject({ fences: true, majority: 3, refusal: 2 });
    expect(queueQuorum(1).quorum).toMatchObject({ fences: true, majority: 1, refusal: 1 });
  });
});
