import { LockService } from 'nest-holdfast/core';
import type { LockStore } from 'nest-holdfast/core';
import { RedlockStore } from 'nest-holdfast/redlock';
import { FakeClock } from 'nest-holdfast/testing';
import { errorOf } from '../../core/support/outcome';
import { StubNode } from './support/stub-node';
import { stubQuorum } from './support/stub-quorum';

const clock = new FakeClock();
const node = () => new StubNode(clock);
const three = () => [node(), node(), node()];

describe('RedlockStore refuses', () => {
  it.each([
    [
      { nodeTimeout: 0 },
      RangeError,
      /: nodeTimeout must be a whole number of ms from 1 to \d+, got 0$/,
    ],
    [{ nodeTimeout: -1 }, RangeError, /: nodeTimeout .* got -1$/],
    [{ nodeTimeout: Infinity }, RangeError, /: nodeTimeout .* got Infinity$/],
    [{ nodeTimeout: '5' as never }, TypeError, /: nodeTimeout .* got the string "5"$/],
    [
      { largestTtl: 0 },
      RangeError,
      /: largestTtl must be a whole number of ms from 1 to \d+, got 0$/,
    ],
    [{ largestTtl: NaN }, RangeError, /: largestTtl .* got NaN$/],
    [{ quarantine: 'sometimes' as never }, TypeError, /: quarantine must be true, false or 'unless-all-fresh', got the string "sometimes"$/], // prettier-ignore
    [{ quarantine: null as never }, TypeError, /: quarantine .* got null$/],
  ])('the options %j', (options, type, message) => {
    const error = errorOf(() => new RedlockStore(three(), options));
    expect(error).toBeInstanceOf(type);
    expect(error.message).toMatch(message);
  });

  const session = { name: 'session', tryAcquire: jest.fn(), supports: { ttl: false } };
  const twice = node();
  it.each([
    ['nothing', undefined, /expects a list of stores/],
    ['an empty list', [], /expects a list of stores/],
    ['a store without a list', node(), /expects a list of stores/],
    ['what is no store', [node(), {}, node()], /node 2 is no LockStore/],
    ['a store that says of nothing whether it supports it', [{ name: 'x', tryAcquire: jest.fn() }], /node 1 is no LockStore/], // prettier-ignore
    ['a store without attempts', [{ name: 'x', supports: { ttl: true } }], /node 1 is no LockStore/], // prettier-ignore
    ['a hole', [node(), undefined], /node 2 is no LockStore/],
    ['keys that live as long as a session', [session], /node 1 \(session\) keeps keys for a session/], // prettier-ignore
    ['a node that would vote twice', [twice, node(), twice], /twice/],
  ])('%s', (_, nodes, message) => {
    const error = errorOf(() => new RedlockStore(nodes as LockStore[]));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toMatch(message);
  });
});

describe('RedlockStore', () => {
  afterEach(() => jest.restoreAllMocks());

  it.each([
    [1, 'RedlockStore over 1 node: no lock can be taken or extended once one of them is down'],
    [2, 'RedlockStore over 2 nodes: no lock can be taken or extended once one of them is down'],
  ])('warns of %i node(s), and says what is not protected', (count, text) => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    expect(new RedlockStore(three().slice(0, count))).toBeDefined();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(warn.mock.calls[0]![0]).toContain(text);
    expect(warn.mock.calls[0]![1]).toEqual({ code: 'HOLDFAST_REDLOCK_FEW_NODES' });
  });

  it.each([3, 4, 5])('says nothing of %i nodes', (count) => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    expect(new RedlockStore(Array.from({ length: count }, node))).toBeDefined();
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    [40, 5],
    [100, 5],
    [400, 20],
    [1_000, 50],
    [30_000, 50],
  ])('gives a node, for a ttl of %i ms, %i ms to answer', async (ttl, timeout) => {
    const own = stubQuorum(3);
    own.nodes[0]!.stop();
    own.nodes[1]!.fail(new Error('down'));
    const outcome = jest.fn();
    const failed = own.locks.acquire('a', { ttl, waitTimeout: 0 }).catch(outcome);
    own.nodes[2]!.stop();
    await own.clock.advance(timeout - 1);
    expect(outcome).not.toHaveBeenCalled();
    await own.clock.advance(1);
    await failed;
    expect(outcome.mock.calls[0][0].nodes[0].said).toBe('timeout');
  });

  it('says why it cannot count holders', () => {
    const { supports } = new RedlockStore(three());
    expect(supports.sharingUnsupported).toMatch(/^a majority cannot count holders/);
    expect(supports).toMatchObject({ fencing: true, ttl: true, manyKeys: true });
  });

  it('can do what all of its nodes can', () => {
    const supported = { fencing: false, ttl: true };
    const plain: LockStore = { name: 'plain', tryAcquire: jest.fn(), supports: supported };
    const { supports } = new RedlockStore([...three(), plain]);
    expect(supports).toMatchObject({ fencing: false, ttl: true, manyKeys: false });
  });

  it('has no queue where no node has one', () => {
    const store: LockStore = new RedlockStore(three());
    expect('acquire' in store && store['acquire']).toBeFalsy();
    expect(new LockService(store).storeName).toBe('redlock');
  });
});
