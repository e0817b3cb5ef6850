import type { AcquireRequest, Lease } from 'nest-holdfast/core';
import { NodeLeases } from '../../../../lib/stores/redlock/claim/node-leases';
import { QueuedLeases } from '../../../../lib/stores/redlock/lease/queued-leases';
import type { RedlockLease } from '../../../../lib/stores/redlock/lease/redlock-lease';
import { rejectionOf } from '../../../core/support/outcome';
import { aRequest } from '../../redis/locks';
import { settled } from '../support/stub-quorum';

/** What a `RedlockLease` does for this class. */
function aLease(fencingToken: bigint | undefined) {
  const lease = {
    fencingToken,
    extend: jest.fn().mockResolvedValue(true),
    release: jest.fn().mockResolvedValue(true),
    renew: jest.fn<Promise<boolean>, [AcquireRequest]>().mockResolvedValue(true),
  };
  return lease as typeof lease & RedlockLease;
}

/** A waiter for the keys `a`, `b` and `c` that has got `b` from its queue. */
function own(token: bigint | undefined = 7n) {
  const take = jest.fn<Promise<RedlockLease | undefined>, [AcquireRequest, AcquireRequest]>();
  const queued = new QueuedLeases(take);
  const asked = aRequest(['a', 'b', 'c']);
  const atNodes = new NodeLeases();
  const first = aLease(token);
  const added = queued.add({ ...asked, key: 'b', keys: ['b'] }, first, atNodes);
  return { take, queued, asked, atNodes, first, added };
}

describe('A lease whose holder has waited for it', () => {
  it('is found by the owner token and one of its keys, until it has ended', () => {
    const { queued, asked, atNodes, first, added } = own();
    expect(added).toBe(first);
    expect(queued.find(asked)).toEqual({ key: 'b', lease: first });
    expect(queued.find({ ...asked, keys: ['a', 'c'] })).toBeUndefined();
    expect(queued.find({ ...asked, token: 'of others' })).toBeUndefined();
    atNodes.end();
    expect(queued.find(asked)).toBeUndefined();
  });

  it('is renewed where there is no further key', async () => {
    const { queued, asked, first, take } = own();
    const single = { ...asked, key: 'b', keys: ['b'] };
    expect(await queued.takeOthers(queued.find(single)!, single)).toBe(first);
    expect(first.renew.mock.calls).toEqual([[single]]);
    first.renew.mockResolvedValue(false);
    expect(await queued.takeOthers(queued.find(single)!, single)).toBeUndefined();
    expect(take).not.toHaveBeenCalled();
  });

  it('is one with the other keys, whose token is no smaller', async () => {
    const { queued, asked, first, take } = own();
    const others = aLease(9n);
    take.mockResolvedValue(others);
    const lease = (await queued.takeOthers(queued.find(asked)!, asked))!;
    const [[rest, named]] = take.mock.calls as [[AcquireRequest, AcquireRequest]];
    expect(rest).toEqual({
      ...asked,
      key: 'a',
      keys: ['a', 'c'],
      token: expect.any(String),
      fencingFloor: 7n,
    });
    expect(rest.token).not.toBe(asked.token);
    expect(named).toBe(asked);
    expect(first.renew.mock.calls).toEqual([[{ ...asked, fencingFloor: 9n }]]);
    expect(lease.fencingToken).toBe(9n);
    expect(await lease.release()).toBe(true);
    for (const each of [first, others]) expect(each.release).toHaveBeenCalledTimes(1);
  });

  it('has no token where the nodes have none', async () => {
    const { queued, asked, first, take } = own();
    Object.assign(first, { fencingToken: undefined });
    take.mockResolvedValue(aLease(undefined));
    const lease = (await queued.takeOthers(queued.find(asked)!, asked))!;
    expect(Object.keys(take.mock.calls[0]![0])).not.toContain('fencingFloor');
    expect(first.renew.mock.calls).toEqual([[asked]]);
    expect(lease.fencingToken).toBeUndefined();
  });

  it('is not renewed where others have one of the other keys', async () => {
    const { queued, asked, first, take } = own();
    take.mockResolvedValue(undefined);
    expect(await queued.takeOthers(queued.find(asked)!, asked)).toBeUndefined();
    expect(first.renew).not.toHaveBeenCalled();
  });

  it('gives the other keys back where it was lost meanwhile', async () => {
    const { queued, asked, first, take } = own();
    const others: Lease & { release: jest.Mock } = aLease(9n);
    take.mockResolvedValue(others as RedlockLease & { release: jest.Mock });
    first.renew.mockResolvedValue(false);
    expect(await queued.takeOthers(queued.find(asked)!, asked)).toBeUndefined();
    expect(others.release).toHaveBeenCalledTimes(1);
  });

  it('gives the other keys back, or leaves them to their ttl, where it cannot be renewed', async () => {
    const { queued, asked, first, take } = own();
    const others = aLease(9n);
    others.release.mockRejectedValue(new Error('down, too'));
    take.mockResolvedValue(others);
    first.renew.mockRejectedValue(new Error('down'));
    const error = await rejectionOf(queued.takeOthers(queued.find(asked)!, asked));
    await settled();
    expect(error.message).toBe('down');
    expect(others.release).toHaveBeenCalledTimes(1);
  });
});
