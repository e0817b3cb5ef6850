import { rejectionOf } from '../support/outcome';
import { onFakeStore } from '../support/setup';

const session = { fencing: true, ttl: false, manyKeys: true };

function onSession() {
  const around = onFakeStore({}, session);
  const controller = new AbortController();
  around.lease.lost = controller.signal;
  return { ...around, controller };
}

describe('a lock whose store lives by sessions', () => {
  it('is lost at once when its session ends', async () => {
    const { locks, controller, events, clock } = onSession();
    const lock = await locks.acquire('a');
    const { signal } = lock;
    controller.abort(new Error('session expired'));
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toMatchObject({
      reason: 'session',
      message: 'Lock "a" is no longer held: the store\'s session ended',
    });
    expect(lock.state).toBe('lost');
    expect(lock.remaining).toBe(0);
    expect(events).toEqual(['held', 'lost']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is lost, and not handed out, when its session ends on the last few steps', async () => {
    const { locks, lease, controller, events } = onSession();
    let looks = 0;
    // It ends after the grant was looked at and before a listener is there.
    jest.spyOn(controller.signal, 'aborted', 'get').mockImplementation(() => looks++ > 0);
    const error = await rejectionOf(locks.acquire('a'));
    expect(error).toMatchObject({ code: 'LOCK_STORE_FAILED', cause: { reason: 'session' } });
    expect(events).toEqual(['held', 'lost']);
    expect(lease.releases).toBe(0);
  });

  it('cannot be extended or released then', async () => {
    const { locks, controller, lease } = onSession();
    const lock = await locks.acquire('a');
    controller.abort();
    expect(await rejectionOf(lock.extend(1_000))).toMatchObject({ reason: 'session' });
    expect(await lock.release()).toBe(false);
    expect([lease.extensions, lease.releases]).toEqual([[], 0]);
  });

  it('does not care for a session that ends after its release', async () => {
    const { locks, controller, events } = onSession();
    const lock = await locks.acquire('a');
    await lock.release();
    controller.abort();
    expect(lock.state).toBe('released');
    expect(lock.signal.aborted).toBe(false);
    expect(events).toEqual(['held', 'released']);
  });

  it('does not listen to its session any more when it has ended', async () => {
    const { locks, lease } = onSession();
    const add = jest.spyOn(lease.lost!, 'addEventListener');
    const remove = jest.spyOn(lease.lost!, 'removeEventListener');
    const lock = await locks.acquire('a');
    expect(add).toHaveBeenCalledTimes(1);
    await lock.release();
    expect(remove).toHaveBeenCalledWith('abort', add.mock.calls[0]![1]);
  });

  it('passes an extension on to the store', async () => {
    const { locks, lease } = onSession();
    const lock = await locks.acquire('a');
    await lock.extend(1_000);
    expect(lease.extensions).toEqual([1_000]);
    expect(lock.remaining).toBe(Infinity);
  });

  it('is lost when the store says that it is gone', async () => {
    const { locks, lease, events } = onSession();
    lease.onExtend = () => Promise.resolve(false);
    const lock = await locks.acquire('a');
    expect(await rejectionOf(lock.extend(1_000))).toMatchObject({ reason: 'gone' });
    expect(events).toEqual(['held', 'lost']);
  });

  it('tells of its loss once, when the store finds out while it is asked', async () => {
    const { locks, controller, events } = onSession();
    const lock = await locks.acquire('a');
    jest.spyOn(controller.signal, 'aborted', 'get').mockImplementation(() => {
      controller.abort();
      return true;
    });
    expect(lock.isHeld).toBe(false);
    expect(events).toEqual(['held', 'lost']);
  });
});
