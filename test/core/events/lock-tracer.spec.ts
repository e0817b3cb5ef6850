import type { AroundWork, LockTracer } from 'nest-holdfast/core';
import { inMemory } from '../support/setup';

/** Writes down what it is told, as `name step key`. */
function tracer(name: string, told: string[], isTracing = true) {
  return {
    isTracing,
    acquire: ({ key }) => {
      told.push(`${name} acquire ${key}`);
      return { end: () => told.push(`${name} acquired ${key}`) };
    },
    hold: ({ key }) => {
      told.push(`${name} hold ${key}`);
      return {
        around: (_, run) => {
          told.push(`${name} around ${key}`);
          return run();
        },
        jeopardy: () => undefined,
        end: () => told.push(`${name} held ${key}`),
      };
    },
  } satisfies LockTracer;
}

describe('trace', () => {
  it('has several tracers follow calls and work, the first outermost, around aroundWork', async () => {
    const told: string[] = [];
    const aroundWork: AroundWork = (_, run) => {
      told.push('aroundWork');
      return run();
    };
    const { locks } = inMemory({ aroundWork });
    locks.trace(tracer('one', told));
    locks.trace(tracer('two', told));
    await locks.withLock('a', () => void told.push('work'));
    expect(told).toEqual([
      'one acquire a',
      'two acquire a',
      'one acquired a',
      'two acquired a',
      'one hold a',
      'two hold a',
      'one around a',
      'two around a',
      'aroundWork',
      'work',
      'one held a',
      'two held a',
    ]);
  });

  it('calls nothing while isTracing is false', async () => {
    const told: string[] = [];
    const { locks } = inMemory();
    const idle = tracer('idle', told, false);
    locks.trace(idle);
    await locks.withLock('a', () => {});
    expect(told).toEqual([]);
    locks.trace(tracer('busy', told));
    await locks.withLock('a', () => {});
    expect(told.filter((line) => line.startsWith('idle'))).toEqual([]);
    expect(told).toHaveLength(5);
  });

  it('ends for one tracer, also where it was added twice', async () => {
    const told: string[] = [];
    const { locks } = inMemory();
    const twice = tracer('t', told);
    const end = locks.trace(twice);
    locks.trace(twice);
    end();
    end();
    await locks.acquire('a');
    expect(told).toEqual(['t acquire a', 't acquired a']);
  });

  it('ends the span of a lock that is lost with the error', async () => {
    const ends: unknown[] = [];
    const { locks } = inMemory();
    const around: AroundWork = (_, run) => run();
    const span = { around, jeopardy: () => undefined, end: (error?: Error) => ends.push(error) };
    locks.trace({ ...tracer('t', []), hold: () => span });
    const work = locks.withLock('a', () => locks.close());
    await expect(work).rejects.toMatchObject({ code: 'LOCK_LOST' });
    expect(ends).toEqual([expect.objectContaining({ code: 'LOCK_LOST' })]);
  });

  it('a tracer that throws is warned of, and fails no lock', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const fail = (): never => {
      throw new Error('tracer');
    };
    const { locks } = inMemory();
    const end = locks.trace({ isTracing: true, acquire: fail, hold: fail });
    expect(await locks.withLock('a', () => 7)).toBe(7);
    end();
    const around: AroundWork = (_, run) => run();
    const hold = () => ({ around, jeopardy: fail, end: fail });
    locks.trace({ isTracing: true, acquire: () => ({ end: fail }), hold });
    expect(await locks.withLock('a', () => 8)).toBe(8);
    expect(await locks.inspect('a')).toBeUndefined();
    expect(warned.mock.calls.map(([message]) => message)).toEqual(
      Array<string>(4).fill('A tracer of locks threw: Error: tracer'),
    );
    warned.mockRestore();
  });

  it('a lock that is lost before its work begins has no work', async () => {
    const { locks } = inMemory();
    const told: string[] = [];
    const acquire = () => ({ end: () => void locks.close() });
    locks.trace({ ...tracer('t', told), acquire });
    const work = jest.fn();
    await expect(locks.withLock('a', work)).rejects.toMatchObject({ code: 'LOCK_STORE_FAILED' });
    expect(work).not.toHaveBeenCalled();
    expect(told).toEqual([]);
  });

  it('refuses what is no tracer', () => {
    const { locks } = inMemory();
    expect(() => locks.trace({} as LockTracer)).toThrow(
      'trace: the tracer must be a LockTracer, got an object',
    );
  });
});
