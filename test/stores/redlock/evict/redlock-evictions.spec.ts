import type { HolderAnswer, LockStore, StoreNotice, TakenKey } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import {
  canEvict,
  onlyRevocations,
  RedlockEvictions,
} from '../../../../lib/stores/redlock/evict/redlock-evictions';
import { QuorumError } from '../../../../lib/stores/redlock/vote/quorum';
import { deferred, watch } from '../../../core/support/outcome';
import { quorumOf } from '../support/quorum-of';
import { settled } from '../support/stub-quorum';
import { StubLink } from '../support/stub-link';

const NAMED = { key: 'a', fencingToken: 7n };
const REQUEST = { ...NAMED, keys: ['a'], token: 'ours', ttl: 5_000 };
/** Milliseconds for the nodes to answer. */
const LONGEST = 1_000;

const held: HolderAnswer = { state: 'held', holder: 'them', owner: 'theirs', fencingToken: 7n };
const other: HolderAnswer = { state: 'other' };

/** Three nodes whose answers a test gives, one by one. */
function own() {
  const clock = new FakeClock(50_000);
  const links = ['0', '1', '2'].map((name) => new StubLink(name, clock));
  const answers = links.map(() => deferred<HolderAnswer>());
  const stores = links.map((server, index) => ({
    name: 'own',
    server,
    supports: { fencing: true, ttl: true },
    askHolder: jest.fn().mockReturnValue(answers[index]!.promise),
    evict: jest.fn().mockReturnValue(answers[index]!.promise),
  }));
  const quorum = quorumOf(stores as unknown as LockStore[], clock);
  const lease = { fencingToken: 9n, extend: jest.fn(), release: jest.fn() };
  const claim = jest.fn().mockResolvedValue(lease);
  const evictions = new RedlockEvictions(quorum, claim);
  const say = async (...said: (HolderAnswer | Error | undefined)[]) => {
    said.forEach((each, index) => {
      if (each instanceof Error) answers[index]!.reject(each);
      else if (each) answers[index]!.resolve(each);
    });
    await settled();
  };
  return { clock, links, stores, quorum, evictions, claim, lease, say };
}

/** A node's grant to the request. */
function taken() {
  const release = jest.fn().mockResolvedValue(true);
  const key: TakenKey = { release };
  const answer: HolderAnswer = { ...held, state: 'taken', taken: key };
  return { answer, release };
}

describe('The question of a Redlock for a holder', () => {
  it('goes to all nodes, and is answered by a majority', async () => {
    const { evictions, stores, say } = own();
    const outcome = watch(evictions.ask(NAMED, 250));
    await say(held, other, held);
    expect(outcome.value).toEqual({ state: 'held', holder: 'them', fencingToken: 7n });
    for (const { askHolder } of stores) expect(askHolder.mock.calls).toEqual([[NAMED, 250]]);
  });

  it('is not put to a node that is away, or has no vote', async () => {
    const { evictions, stores, links, quorum, say } = own();
    links[0]!.disconnect();
    quorum.nodes[1]!.record = { isKnown: true, bar: 'quarantined' };
    const outcome = watch(evictions.ask(NAMED, 250));
    await say(held, held, held);
    expect(stores.map(({ askHolder }) => askHolder.mock.calls.length)).toEqual([0, 0, 1]);
    expect((outcome.error as QuorumError).report).toEqual({
      ended: '1 of 3 nodes answered, 2 were needed',
      nodes: [
        { node: 'n0', said: 'refused (not connected)' },
        { node: 'n1', said: 'quarantined' },
        { node: 'n2', said: 'held' },
      ],
    });
  });

  it('is answered without a node that hangs, after a second', async () => {
    const { evictions, clock, say } = own();
    const outcome = watch(evictions.ask(NAMED, 0));
    await say(held, held);
    await clock.advance(LONGEST - 1);
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    await settled();
    expect(outcome.value).toMatchObject({ state: 'held' });
  });

  it('fails with what each node said', async () => {
    const { evictions, clock, say } = own();
    const outcome = watch(evictions.ask(NAMED, 0));
    await say(new Error('down'), { state: 'perhaps' } as never);
    await clock.advance(LONGEST);
    await settled();
    const { nodes } = (outcome.error as QuorumError).report;
    const said = nodes.map((each) => each.said);
    expect([said[0], said[2]]).toEqual(['error down', 'timeout']);
    expect(said[1]).toMatch(/^error .*a state of held, taken/);
  });
});

describe('An eviction at the nodes of a Redlock', () => {
  it('that a majority makes claims the key for the request, without the token of the holder', async () => {
    const { evictions, stores, claim, lease, say } = own();
    const [first, second] = [taken(), taken()];
    const outcome = watch(evictions.take(REQUEST));
    await say(first.answer, second.answer, other);
    for (const { evict } of stores) expect(evict.mock.calls).toEqual([[REQUEST]]);
    const { fencingToken: _, ...ownRequest } = REQUEST;
    expect(claim.mock.calls).toEqual([[ownRequest]]);
    expect(outcome.value).toMatchObject({ state: 'taken', holder: 'them', fencingToken: 7n });
    expect(outcome.value!.taken).toBe(lease);
    expect([first.release, second.release].map(({ mock }) => mock.calls)).toEqual([[], []]);
  });

  it('fails when no majority grants the key afterwards', async () => {
    const { evictions, claim, say } = own();
    claim.mockResolvedValue(undefined);
    const outcome = watch(evictions.take(REQUEST));
    await say(taken().answer, taken().answer, other);
    expect((outcome.error as Error).message).toBe(
      'the holder was evicted, but no majority has granted the key',
    );
  });

  it('takes the key also from the same holder at a node that granted it late', async () => {
    const { evictions, stores, say } = own();
    const outcome = watch(evictions.take(REQUEST));
    const late = { state: 'other', owner: 'theirs', fencingToken: 8n } as const;
    stores[2]!.evict.mockResolvedValueOnce(late).mockResolvedValueOnce(taken().answer);
    await settled();
    await say(taken().answer, taken().answer, late);
    expect(stores.map(({ evict }) => evict.mock.calls.length)).toEqual([1, 1, 2]);
    expect(stores[2]!.evict.mock.calls[1]).toEqual([{ ...REQUEST, fencingToken: 8n }]);
    expect(outcome.status).toBe('fulfilled');
  });

  it.each<[string, HolderAnswer]>([
    ['another holder', { state: 'other', owner: 'of others', fencingToken: 8n }],
    ['a holder without a token', { state: 'other', owner: 'theirs' }],
    ['no holder', other],
  ])('takes nothing from %s', async (_, answer) => {
    const { evictions, stores, say } = own();
    const outcome = watch(evictions.take(REQUEST));
    await say(taken().answer, taken().answer, answer);
    expect(outcome.value).toMatchObject({ state: 'taken' });
    expect(stores.map(({ evict }) => evict.mock.calls.length)).toEqual([1, 1, 1]);
  });

  it.each<[string, HolderAnswer | undefined]>([
    ['has given the key to others', { state: 'other', owner: 'of others', fencingToken: 8n }],
    ['does not answer', undefined],
  ])('is one of the holder at the other nodes where the first one %s', async (_, answer) => {
    const { evictions, stores, clock, say } = own();
    const outcome = watch(evictions.take(REQUEST));
    await say(answer, taken().answer, taken().answer);
    await clock.advance(LONGEST);
    await settled();
    expect(outcome.value).toMatchObject({ state: 'taken' });
    expect(stores.map(({ evict }) => evict.mock.calls.length)).toEqual([1, 1, 1]);
  });

  it('takes nothing more where the owner is unknown', async () => {
    const { evictions, stores, say } = own();
    const outcome = watch(evictions.take(REQUEST));
    const unnamed = () => ({ ...taken().answer, owner: undefined });
    await say(unnamed(), unnamed(), { state: 'other', fencingToken: 8n });
    expect(outcome.value).toMatchObject({ state: 'taken' });
    expect(stores.map(({ evict }) => evict.mock.calls.length)).toEqual([1, 1, 1]);
  });

  it('waits no longer than a second for a node that granted it late', async () => {
    const { evictions, stores, clock, say } = own();
    const late: HolderAnswer = { state: 'other', owner: 'theirs', fencingToken: 8n };
    stores[2]!.evict
      .mockReset()
      .mockResolvedValueOnce(late)
      .mockReturnValue(new Promise(() => {}));
    const outcome = watch(evictions.take(REQUEST));
    await say(taken().answer, taken().answer);
    await clock.advance(LONGEST - 1);
    expect(outcome.status).toBe('pending');
    await clock.advance(1);
    await settled();
    expect(outcome.value).toMatchObject({ state: 'taken' });
  });

  it('that too few nodes make is given back, also where the answer comes late', async () => {
    const { evictions, clock, claim, say } = own();
    const [first, late] = [taken(), taken()];
    const outcome = watch(evictions.take(REQUEST));
    await say(first.answer, other);
    await clock.advance(LONGEST);
    await settled();
    expect(outcome.value).toMatchObject({ state: 'other', holder: 'them' });
    expect(outcome.value!.taken).toBeUndefined();
    expect(first.release).toHaveBeenCalledTimes(1);
    await say(undefined, undefined, late.answer);
    expect(late.release).toHaveBeenCalledTimes(1);
    expect(claim).not.toHaveBeenCalled();
  });

  it('that too few nodes answer is given back, also where the answer comes late', async () => {
    const { evictions, clock, say } = own();
    const [first, late] = [taken(), taken()];
    first.release.mockRejectedValue(new Error('down'));
    const outcome = watch(evictions.take(REQUEST));
    await say(first.answer, new Error('down'));
    await clock.advance(LONGEST);
    await settled();
    expect(outcome.error).toBeInstanceOf(QuorumError);
    expect(first.release).toHaveBeenCalledTimes(1);
    await say(undefined, undefined, late.answer);
    expect(late.release).toHaveBeenCalledTimes(1);
  });
});

describe('A store that is a node', () => {
  it.each([
    [true, { evict: jest.fn(), askHolder: jest.fn() }],
    [false, { evict: jest.fn() }],
    [false, { askHolder: jest.fn() }],
    [false, {}],
  ])('can evict: %s', (expected, store) => {
    expect(canEvict(store as unknown as LockStore)).toBe(expected);
  });

  it('tells of evictions of its own holders, and of nothing else', () => {
    const told: StoreNotice[] = [];
    const tell = onlyRevocations((notice) => told.push(notice));
    const revoked = { type: 'revoked', key: 'a', upTo: 7n, grace: 0 } as const;
    tell(revoked);
    tell({ type: 'node', node: 'n', state: 'recovered', reason: 'x' });
    expect(told).toEqual([revoked]);
  });
});
