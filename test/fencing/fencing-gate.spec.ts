import { getEventListeners } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { LockError, LockKeyError } from 'nest-holdfast';
import { FencingGate, type FencedHolder, LockStaleError } from '../../lib/fencing/index.js';
import { Deferred } from '../nest/support/deferred.js';
import { inTime } from '../support/faults/in-time.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const of = (fencingToken: bigint, key = 'order:42'): FencedHolder => ({ key, fencingToken });

/** One whose write has begun, and goes on until `end` is resolved. */
async function slowWrite(gate: FencingGate, token: bigint, atTheEnd = () => {}) {
  const [begun, end] = [new Deferred(), new Deferred()];
  const done = gate.run(of(token), async () => {
    begun.resolve();
    await end.promise;
    atTheEnd();
  });
  await Promise.race([begun.promise, done]);
  return { end, done };
}

describe('FencingGate', () => {
  it('lets the same token in again, and larger ones, and refuses smaller ones', () => {
    const gate = new FencingGate();
    gate.enter(of(5n));
    gate.enter(of(5n));
    gate.enter(of(7n));
    expect(() => gate.enter(of(6n))).toThrow(LockStaleError);
    expect(gate.newest('order:42')).toBe(7n);
  });

  it('says in the error who was there', () => {
    const gate = new FencingGate();
    gate.enter(of(43n));
    const enter = () => gate.enter(of(42n));
    expect(enter).toThrow(
      expect.objectContaining({
        name: 'LockStaleError',
        code: 'LOCK_STALE',
        key: 'order:42',
        fencingToken: 42n,
        newest: 43n,
        message: 'Fencing token 42 of lock "order:42" is stale: a holder with 43 was here',
      }),
    );
  });

  it('is a LockError, and can be written as JSON', () => {
    const error = new LockStaleError('order:42', 42n, 43n);
    expect(error).toBeInstanceOf(LockError);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({
      code: 'LOCK_STALE',
      key: 'order:42',
    });
  });

  it('decides as if it remembered everything, key by key', () => {
    const arrivals = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b'), token: fc.bigInt(0n, 9n) }),
    );
    fc.assert(
      fc.property(arrivals, (all) => {
        const gate = new FencingGate();
        all.forEach(({ key, token }, index) => {
          const seen = all.slice(0, index).filter((each) => each.key === key);
          const isStale = seen.some((each) => each.token > token);
          expect(enters(gate, of(token, key))).toBe(!isStale);
        });
      }),
    );
  });

  describe('run', () => {
    it('writes one after the other, so that a slow one does not land late', async () => {
      const gate = new FencingGate();
      const log: string[] = [];
      const older = await slowWrite(gate, 1n, () => log.push('older'));
      const newer = gate.run(of(2n), () => log.push('newer'));
      older.end.resolve();
      await newer;
      expect(log).toEqual(['older', 'newer']);
    });

    it('refuses one that was overtaken while it waited in line', async () => {
      const gate = new FencingGate();
      const write = jest.fn();
      const first = await slowWrite(gate, 1n);
      const overtaken = gate.run(of(2n), write);
      const last = gate.run(of(3n), () => 'written');
      first.end.resolve();
      await expect(overtaken).rejects.toMatchObject({ code: 'LOCK_STALE', newest: 3n });
      expect(write).not.toHaveBeenCalled();
      expect(await last).toBe('written');
      await first.done;
    });

    it('rejects with the error of the write, which is not one of the next in line', async () => {
      const gate = new FencingGate();
      const error = new Error('disk full');
      const failing = gate.run(of(1n), () => {
        throw error;
      });
      const next = gate.run(of(1n), () => 'written');
      await expect(failing).rejects.toBe(error);
      expect(await next).toBe('written');
    });

    it('lets other keys go on meanwhile', async () => {
      const gate = new FencingGate();
      const first = await slowWrite(gate, 1n);
      expect(await gate.run(of(1n, 'b'), () => 'written')).toBe('written');
      first.end.resolve();
      await first.done;
    });
  });

  describe('run, inside a write of the same key', () => {
    it('writes at once under the same token, one after the other, however deep', async () => {
      const gate = new FencingGate();
      const log: string[] = [];
      const line = (text: string) => gate.run(of(1n), async () => void log.push(text));
      const report = () => Promise.all([line('a'), gate.run(of(1n), () => line('b')), line('c')]);
      await inTime(5_000, gate.run(of(1n), report));
      expect(log).toEqual(['a', 'b', 'c']);
      expect(
        await inTime(
          5_000,
          gate.run(of(2n), () => 'next'),
        ),
      ).toBe('next');
    });

    it('finds the write of its own key through that of another one', async () => {
      const gate = new FencingGate();
      const inner = () => gate.run(of(1n), () => 'inner');
      const between = () => gate.run(of(7n, 'other'), inner);
      expect(await inTime(5_000, gate.run(of(1n), between))).toBe('inner');
    });

    it('keeps the next writer out until the writes have ended that were not awaited', async () => {
      const gate = new FencingGate();
      const log: string[] = [];
      const end = new Deferred();
      const slow = async () => end.promise.then(() => log.push('inner'));
      await gate.run(of(1n), () => void gate.run(of(1n), slow));
      const next = gate.run(of(2n), () => log.push('next'));
      const refused = gate.run(of(1n), () => log.push('stale'));
      await expect(refused).rejects.toMatchObject({ code: 'LOCK_STALE' });
      end.resolve();
      await inTime(5_000, next);
      expect(log).toEqual(['inner', 'next']);
    });

    it('stands in line with another token, and in what the write has left behind', async () => {
      const gate = new FencingGate();
      const [end, later] = [new Deferred(), new Deferred()];
      const log: string[] = [];
      let newer: Promise<unknown> | undefined;
      let left: Promise<unknown> | undefined;
      const older = gate.run(of(1n), async () => {
        newer = gate.run(of(2n), () => log.push('newer'));
        left = later.promise.then(() => gate.run(of(2n), () => log.push('left behind')));
        await end.promise;
        log.push('older');
      });
      end.resolve();
      await Promise.all([older, newer]);
      const blocker = new Deferred();
      const blocking = gate.run(of(2n), () => blocker.promise.then(() => log.push('blocking')));
      later.resolve();
      await Promise.resolve();
      blocker.resolve();
      await Promise.all([blocking, left]);
      expect(log).toEqual(['older', 'newer', 'blocking', 'left behind']);
    });
  });

  describe('run, that waits', () => {
    it('gives up after waitTimeout, without a write, and the line goes on', async () => {
      const gate = new FencingGate();
      const write = jest.fn();
      const { end, done } = await slowWrite(gate, 1n);
      for (const waitTimeout of [0, 20])
        await expect(gate.run(of(2n), write, { waitTimeout })).rejects.toMatchObject({
          name: 'FencingTimeoutError',
          code: 'LOCK_WRITE_TIMEOUT',
          key: 'order:42',
          waitTimeout,
        });
      const last = gate.run(of(2n), () => 'written');
      end.resolve();
      await done;
      expect(await inTime(5_000, last)).toBe('written');
      expect(write).not.toHaveBeenCalled();
    });

    it('is not bound by waitTimeout once it writes', async () => {
      const gate = new FencingGate();
      const slow = () => new Promise((resolve) => setTimeout(resolve, 20, 'written'));
      expect(await gate.run(of(1n), slow, { waitTimeout: 1 })).toBe('written');
    });

    it('gives up with the reason of its signal', async () => {
      const gate = new FencingGate();
      const [write, reason] = [jest.fn(), new Error('client gone')];
      const { end, done } = await slowWrite(gate, 1n);
      const stop = new AbortController();
      const waiting = gate.run(of(2n), write, { signal: stop.signal, waitTimeout: Infinity });
      stop.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      const late = gate.run(of(2n), write, { signal: stop.signal });
      await expect(late).rejects.toBe(reason);
      end.resolve();
      await done;
      expect(write).not.toHaveBeenCalled();
    });

    it('leaves no listener with its signal', async () => {
      const gate = new FencingGate();
      const { signal } = new AbortController();
      const end = new Deferred();
      const first = gate.run(of(1n), () => end.promise, { signal });
      const second = gate.run(of(1n), () => {}, { signal });
      end.resolve();
      await Promise.all([first, second]);
      expect(getEventListeners(signal, 'abort')).toEqual([]);
    });

    it.each([
      [{ waitTimeout: -1 }, 'waitTimeout must be a whole number of ms'],
      [{ waitTimeout: '5' }, 'waitTimeout must be a whole number of ms'],
      [{ signal: 'stop' }, 'signal must be an AbortSignal'],
      [{ waitTimeuot: 5 }, 'did you mean waitTimeout?'],
      ['5', 'FencingGate.run: the options must be an object'],
    ])('refuses %p', async (options, message) => {
      const run = new FencingGate().run(of(1n), () => {}, options as object);
      await expect(run).rejects.toThrow(message);
    });
  });

  describe('maxKeys', () => {
    it('forgets the key that was not seen for the longest time', () => {
      const gate = new FencingGate({ maxKeys: 2 });
      gate.enter(of(5n, 'a'));
      gate.enter(of(5n, 'b'));
      gate.enter(of(5n, 'a'));
      gate.enter(of(5n, 'c'));
      expect(gate.size).toBe(2);
      expect(gate.newest('b')).toBeUndefined();
      expect(enters(gate, of(4n, 'a'))).toBe(false);
      expect(enters(gate, of(4n, 'b'))).toBe(true);
    });

    it('is 100,000, so that strangers who choose keys cannot fill the memory', () => {
      const gate = new FencingGate();
      for (let id = 0; id <= 100_000; id++) gate.enter(of(1n, `doc:${id}`));
      expect(gate.size).toBe(100_000);
      expect(gate.newest('doc:0')).toBeUndefined();
      expect(gate.newest('doc:1')).toBe(1n);
    });

    it('remembers keys alone, and not the bodies that they are cut out of', () => {
      const gate = new FencingGate();
      const before = memoryInUse();
      for (let id = 0; id < 500; id++) {
        const body = `${id}:${'x'.repeat(100_000)}`;
        gate.enter(of(1n, body.slice(0, 40)));
      }
      expect(memoryInUse() - before).toBeLessThan(25_000_000); // all bodies are 50 MB
      expect(gate.size).toBe(500);
    });

    it('keeps a key in whose line a writer waits for the check', async () => {
      const gate = new FencingGate({ maxKeys: 1 });
      const write = jest.fn();
      const waiting = gate.run(of(2n, 'a'), write);
      gate.enter(of(3n, 'a'));
      gate.enter(of(1n, 'b'));
      await expect(waiting).rejects.toMatchObject({ code: 'LOCK_STALE', newest: 3n });
      expect(write).not.toHaveBeenCalled();
    });

    it.each([0, 1.5, -1, Number.NaN, '10', null])('refuses %p', (maxKeys) => {
      expect(() => new FencingGate({ maxKeys: maxKeys as number })).toThrow(
        /maxKeys must be a whole number of at least 1/,
      );
    });
  });

  it.each([
    ['a number', 42, TypeError, 'got 42'],
    ['text', '42', TypeError, 'got the string "42"'],
    ['nothing', undefined, TypeError, 'got undefined'],
    ['a negative one', -1n, RangeError, 'got -1n'],
    ['one of 65 bits', 2n ** 63n, RangeError, 'got 9223372036854775808n'],
  ])('refuses %s for a token', (_, token, type, message) => {
    const enter = () => new FencingGate().enter(of(token as bigint));
    expect(enter).toThrow(type);
    expect(enter).toThrow(`fencingToken must be a bigint from 0n to 2n ** 63n - 1n, ${message}`);
  });

  it('forgets a key when it is told to', () => {
    const gate = new FencingGate();
    gate.enter(of(2n ** 63n - 1n));
    expect(gate.forget('order:42')).toBe(true);
    expect(gate.forget('order:42')).toBe(false);
    expect(enters(gate, of(1n))).toBe(true);
  });

  it.each(['', undefined, 42, ['a'], 'ü'.repeat(257)])('refuses %p for a key', (key) => {
    const enter = () => new FencingGate().enter({ key: key as string, fencingToken: 1n });
    expect(enter).toThrow(LockKeyError);
  });

  it('refuses a token without its key', () => {
    expect(() => new FencingGate().enter(1n as never)).toThrow(
      new TypeError('a lock or { key, fencingToken } is expected, got 1n'),
    );
  });
});

function enters(gate: FencingGate, holder: FencedHolder): boolean {
  try {
    gate.enter(holder);
    return true;
  } catch (error) {
    if (error instanceof LockStaleError) return false;
    throw error;
  }
}

/** Bytes of what is still reachable. */
function memoryInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
