import type { LockStore } from 'nest-holdfast/core';
import { FakeClock } from 'nest-holdfast/testing';
import { StorePulse } from '../../../lib/core/store/store-pulse.js';

function pulseOf(inspect?: () => Promise<undefined>) {
  const clock = new FakeClock(1_000);
  const asked: string[] = [];
  const store = {
    ...(inspect && {
      inspect: (key: string) => {
        asked.push(key);
        return inspect();
      },
    }),
  } as unknown as LockStore;
  return { clock, asked, pulse: new StorePulse(store, clock) };
}

describe('StorePulse', () => {
  it('cannot say where the store cannot inspect', () => {
    expect(pulseOf().pulse.feel('a')).toBeUndefined();
  });

  it('asks once for all who wait within 250 ms', () => {
    const { clock, asked, pulse } = pulseOf(() => new Promise(() => undefined));
    const first = pulse.feel('a');
    clock.jump(249);
    expect(pulse.feel('b')).toBe(first);
    clock.jump(1);
    expect(pulse.feel('c')).not.toBe(first);
    expect(asked).toEqual(['a', 'c']);
  });

  it('has no failure before 500 ms of silence', () => {
    const { clock, pulse } = pulseOf(() => new Promise(() => undefined));
    const asked = pulse.feel('a')!;
    clock.jump(499);
    expect(asked.age).toBe(499);
    expect(asked.failure).toBeUndefined();
    clock.jump(1);
    expect(asked.failure).toBeInstanceOf(Error);
  });

  it('has none after an answer, however old', async () => {
    const { clock, pulse } = pulseOf(() => Promise.resolve(undefined));
    const asked = pulse.feel('a')!;
    await clock.advance(5_000);
    expect(asked.failure).toBeUndefined();
  });

  it('has the error of a store that fails', async () => {
    const error = new Error('down');
    const { clock, pulse } = pulseOf(() => Promise.reject(error));
    const asked = pulse.feel('a')!;
    await clock.advance(0);
    expect(asked.failure).toBe(error);
  });
});
