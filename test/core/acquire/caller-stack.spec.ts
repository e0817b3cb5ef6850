import { LockService, LockTimeoutError, MemoryLockStore } from 'nest-holdfast/core';
import { lacksCaller, withCaller } from '../../../lib/core/async/caller-stack.js';
import { rejectionOf } from '../support/outcome';

const store = new MemoryLockStore();
const locks = new LockService(store);
const elsewhere = new LockService(store);
afterAll(() => Promise.all([locks.close(), elsewhere.close()]));

/** What an application has in its stack traces. */
async function payTheOrder(waitTimeout: number) {
  return await locks.withLock('order', { waitTimeout }, async () => 'paid');
}
async function acquireTheOrder(waitTimeout: number) {
  return await locks.acquire('order', { waitTimeout });
}
async function exportTheOrder(waitTimeout: number) {
  return await locks.withPermit('order', { waitTimeout, permits: 2 }, async () => 'exported');
}

describe('LockTimeoutError', () => {
  it.each([payTheOrder, acquireTheOrder, exportTheOrder])(
    'has its caller in its stack, and its message: %p',
    async (call) => {
      for (const waitTimeout of [0, 30]) {
        await elsewhere.withLock('order', async () => {
          const error = await rejectionOf(call(waitTimeout));
          expect(error).toBeInstanceOf(LockTimeoutError);
          expect(error.stack).toContain(call.name);
          expect(error.stack).toContain(`LockTimeoutError: ${error.message}`);
        });
      }
    },
  );

  it('behind a caller of the same process, too', async () => {
    await locks.withLock('order', { name: 'holder' }, () =>
      locks.outside(async () => {
        const error = await rejectionOf(payTheOrder(30));
        expect(error.stack).toContain('payTheOrder');
      }),
    );
  });

  it('of nested work keeps the stack of the call that failed', async () => {
    async function innerCall() {
      return await locks.withLock('order', { waitTimeout: 0 }, async () => 'paid');
    }
    await elsewhere.withLock('order', async () => {
      const outer = locks.withLock('customer', async () => await innerCall());
      expect((await rejectionOf(outer)).stack).toContain('innerCall');
    });
  });

  it('says for how long the holder has held the key, where the store knows', async () => {
    await elsewhere.withLock('order', async () => {
      const error = await rejectionOf<LockTimeoutError>(payTheOrder(50));
      expect(error.heldBy).toContain(`:${process.pid}:`);
      expect(error.heldFor).toBeGreaterThanOrEqual(45);
      expect(error.message).toMatch(/is held \(attempts: \d+\), for \d+ ms$/);
    });
  });
});

it.each([null, undefined, 'no luck'])(
  '%p, thrown in place of an error, stays what it is',
  (thrown) => {
    expect(withCaller(lacksCaller(thrown))).toBe(thrown);
  },
);
