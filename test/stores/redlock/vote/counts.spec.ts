import type { LockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node.js';
import { Quorum, QuorumError } from '../../../../lib/stores/redlock/vote/quorum.js';
import type { Question } from '../../../../lib/stores/redlock/vote/vote.js';
import { deferred, watch } from '../../../core/support/outcome';
import { settled } from '../support/stub-quorum';

const TTL = 1_000;
/** 5 % of the ttl. */
const TIMEOUT = 50;

/** A vote of nodes whose answers a test gives: `true`, `false`, or an error. */
function vote(count: number, others: Partial<Question<boolean>> = {}) {
  const clock = new FakeClock(50_000);
  const nodes = Array.from({ length: count }, (_, index) => {
    const store = { name: 'own', supports: { fencing: true } } as unknown as LockStore;
    return new RedlockNode(`n${index}`, store, clock, () => undefined);
  });
  const answers = nodes.map(() => deferred<boolean>());
  const heard: string[] = [];
  const question: Question<boolean> = {
    ask: (node) => answers[nodes.indexOf(node)]!.promise,
    isYes: (answer) => answer,
    words: { yes: 'granted', no: 'held' },
    agreed: ({ name }, _, counts) => heard.push(`${name} yes${counts ? '' : ', too late'}`),
    refused: ({ name }) => heard.push(`${name} no`),
    ...others,
  };
  const ask = () => watch(new Quorum(nodes, clock, undefined).ask(question, TTL));
  const say = async (...said: (boolean | Error | undefined)[]) => {
    said.forEach((each, index) => {
      if (each instanceof Error) answers[index]!.reject(each);
      else if (each !== undefined) answers[index]!.resolve(each);
    });
    await settled();
  };
  return { clock, nodes, heard, ask, say };
}

const down = new Error('down');

describe('A vote of the nodes of a Redlock', () => {
  it.each([
    ['yes with a majority', 3, [true, true], 'yes'],
    ['yes with three of five', 5, [true, false, true, down, true], 'yes'],
    ['yes of a single node', 1, [true], 'yes'],
    ['yes with two of two', 2, [true, true], 'yes'],
    ['no when a majority answers otherwise', 3, [false, false], 'no'],
    ['no on an even split', 2, [true, false], 'no'],
    ['no when enough answered, and too few agree', 3, [true, false, down], 'no'],
    ['no on a split of four', 4, [true, true, false, false], 'no'],
  ])('is %s', async (_, count, said, expected) => {
    const { ask, say } = vote(count);
    const outcome = ask();
    await say(...said);
    expect(outcome).toMatchObject({ status: 'fulfilled', value: expected });
  });

  it.each([
    ['one of three', 3, [true]],
    ['two of five', 5, [true, true, false, down]],
    ['one of two', 2, [true]],
    ['a refusal of three', 3, [false]],
  ])('is open with %s', async (_, count, said) => {
    const { ask, say } = vote(count);
    const outcome = ask();
    await say(...said);
    expect(outcome.status).toBe('pending');
  });

  it('fails when too few answer, and says what each said', async () => {
    const { ask, say } = vote(3);
    const outcome = ask();
    await say(true, down, new Error('away'));
    expect(outcome.error).toBeInstanceOf(QuorumError);
    expect((outcome.error as QuorumError).report).toEqual({
      ended: '1 of 3 nodes granted, 2 were needed',
      nodes: [
        { node: 'n0', said: 'granted' },
        { node: 'n1', said: 'error down' },
        { node: 'n2', said: 'error away' },
      ],
    });
  });

  it('ends after its time, where others have answered, and counts the silent as failed', async () => {
    const { ask, say, clock, nodes } = vote(3);
    const outcome = ask();
    await say(true);
    await clock.advance(TIMEOUT - 1);
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    await settled();
    expect((outcome.error as QuorumError).report.nodes.map(({ said }) => said)).toEqual(['granted', 'timeout', 'timeout']); // prettier-ignore
    expect(nodes.map((node) => node.isSuspended)).toEqual([false, false, false]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits three times longer for the first answer of all', async () => {
    const { ask, clock } = vote(3);
    const outcome = ask();
    await clock.advance(TIMEOUT);
    await settled();
    await clock.advance(3 * TIMEOUT - 1);
    await settled();
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    await settled();
    expect(outcome.error).toBeInstanceOf(QuorumError);
  });

  it('tells of every yes whether it counted, also of those that come later', async () => {
    const { ask, say, heard, clock } = vote(3);
    const outcome = ask();
    await say(true, true, undefined);
    expect(outcome.value).toBe('yes');
    await clock.advance(TIMEOUT);
    await settled();
    await say(undefined, undefined, true);
    expect(heard).toEqual(['n0 yes', 'n1 yes', 'n2 yes, too late']);
  });

  it('is suspended from a node that misses three votes which others settle', async () => {
    const { ask, say, clock, nodes } = vote(3);
    await say(true, true, undefined);
    for (let round = 0; round < 3; round++) {
      expect(nodes[2]!.isSuspended).toBe(false);
      ask();
      await settled();
      await clock.advance(TIMEOUT);
      await settled();
    }
    expect(nodes.map((node) => node.isSuspended)).toEqual([false, false, true]);
    const outcome = ask();
    await settled();
    expect(outcome.value).toBe('yes');
  });

  it('suspends only a node that has missed votes, however many are open at once', async () => {
    const { ask, say, clock, nodes } = vote(3);
    for (let round = 0; round < 3; round++) ask();
    await say(true, true, undefined);
    await clock.advance(TIMEOUT);
    await settled();
    expect(nodes.map((node) => node.isSuspended)).toEqual([false, false, true]);
  });

  it('is missed by no node where none has settled it', async () => {
    const { ask, say, clock, nodes } = vote(3);
    for (let round = 0; round < 3; round++) ask();
    await say(true, undefined, undefined);
    await clock.advance(TIMEOUT);
    await settled();
    expect(nodes.map((node) => node.isSuspended)).toEqual([false, false, false]);
  });

  it('forgives what a node has missed before, once it answers in time', async () => {
    const { ask, say, nodes } = vote(3);
    for (let miss = 0; miss < 2; miss++) nodes[2]!.missed(true);
    ask();
    await say(true, true, true);
    nodes[2]!.missed(true);
    expect(nodes[2]!.isSuspended).toBe(false);
  });

  it('is missed by a node that answers too late', async () => {
    const { ask, say, clock, nodes } = vote(3);
    for (let round = 0; round < 2; round++) ask();
    await say(true, true, undefined);
    await clock.advance(TIMEOUT);
    await settled();
    await say(undefined, undefined, true);
    nodes[2]!.missed(true);
    expect(nodes[2]!.isSuspended).toBe(true);
  });

  it('does not count the yes of a node without a vote, and does not ask it', async () => {
    const { ask, say, heard, nodes } = vote(3);
    nodes[0]!.record = { isKnown: true, bar: 'quarantined' };
    const outcome = ask();
    await say(true, true, down);
    expect((outcome.error as QuorumError).report.nodes[0]).toEqual({ node: 'n0', said: 'quarantined' }); // prettier-ignore
    expect(heard).toEqual(['n1 yes']);
  });

  it('does not count the yes of a node that has lost its vote meanwhile', async () => {
    const { ask, say, heard, nodes } = vote(3);
    const outcome = ask();
    nodes[0]!.record = { isKnown: true, bar: 'quarantined' };
    await say(true, true, false);
    expect(outcome.value).toBe('no');
    expect(heard).toEqual(['n0 yes, too late', 'n1 yes', 'n2 no']);
  });

  it('takes what is not asked for a no, and what throws for a failure', async () => {
    const unasked = vote(3, { ask: () => undefined }).ask();
    await settled();
    expect(unasked.value).toBe('no');
    const thrown = vote(3, {
      ask: () => {
        throw down;
      },
    }).ask();
    await settled();
    expect(thrown.error).toBeInstanceOf(QuorumError);
  });

  it('takes an answer that is malformed for a failure', async () => {
    const isYes = (answer: boolean) => {
      if (!answer) throw new Error('what?');
      return answer;
    };
    const { ask, say } = vote(3, { isYes });
    const outcome = ask();
    await say(true, false, false);
    expect((outcome.error as QuorumError).report.nodes[1]).toEqual({ node: 'n1', said: 'error what?' }); // prettier-ignore
  });

  it('ends early where refusals leave no majority, if it is told how many', async () => {
    const { ask, say } = vote(5, { deciding: 3 });
    const outcome = ask();
    await say(false, false);
    expect(outcome.status).toBe('pending');
    await say(false, false, false);
    expect(outcome.value).toBe('no');
  });
});
