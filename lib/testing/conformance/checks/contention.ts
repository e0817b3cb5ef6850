import assert from 'node:assert/strict';
import { aKey, aRequest } from '../backend.js';
import type { Check } from '../check.js';

/** Many at once. */
export const contentionChecks: Record<string, Check> = {
  'never lets two of many win': async (backend) => {
    const [a, b] = await backend.stores();
    for (let round = 0; round < 20; round++) {
      const keys = [aKey()];
      const attempts = Array.from({ length: 16 }, (_, index) =>
        (index % 2 ? a : b).tryAcquire(aRequest({ keys })),
      );
      const winners = (await Promise.all(attempts)).filter((lease) => lease !== undefined);
      assert.equal(winners.length, 1);
      assert.equal(await winners[0]!.release(), true);
    }
  },

  'counts right under contention': async (backend) => {
    const [a, b] = await backend.stores();
    const keys = [aKey()];
    let inside = 0;
    let count = 0;
    const worker = async (store: typeof a) => {
      for (let done = 0; done < 10;) {
        const lease = await store.tryAcquire(aRequest({ keys }));
        if (!lease) {
          await new Promise(setImmediate);
          continue;
        }
        assert.equal(++inside, 1, 'two holders at once');
        const read = count;
        await new Promise(setImmediate);
        count = read + 1;
        inside--;
        assert.equal(await lease.release(), true);
        done++;
      }
    };
    await Promise.all([worker(a), worker(b), worker(a), worker(b)]);
    assert.equal(count, 40);
  },
};
