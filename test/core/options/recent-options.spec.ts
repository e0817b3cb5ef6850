import { OptionLayers } from '../../../lib/core/options/option-layers.js';
import type { LockOptions } from '../../../lib/core/options/lock-options.js';

const layers = new OptionLayers({ storeTimeout: 1_000 });
const first = layers.with({ ttl: 5_000, waitTimeout: 0 });

describe('options that say the same as those of a call before', () => {
  it('are not those of a getter, which may give another value to the next one who reads it', () => {
    let reads = 0;
    const own = new OptionLayers({});
    const changing = { get ttl() { return reads++ === 0 ? 60_000 : '2000'; } }; // prettier-ignore
    expect(own.with(changing as never).ttl).toBe(60_000);
    expect(own.with({ ttl: 2_000 }).ttl).toBe(2_000);
    expect(() => own.with({ ttl: '2000' as never })).toThrow(/ttl must be/);
  });

  it('are resolved once', () => {
    expect(layers.with({ ttl: 5_000, waitTimeout: 0 })).toBe(first);
  });

  it.each<[string, LockOptions]>([
    ['another value', { ttl: 6_000, waitTimeout: 0 }],
    ['one field more', { ttl: 5_000, waitTimeout: 0, maxHold: 9_000 }],
    ['one field less', { ttl: 5_000 }],
    ['another field', { ttl: 5_000, retryDelay: 0 }],
  ])('are not those with %s', (_, options) => {
    expect(layers.with(options)).toMatchObject(options);
    expect(layers.with(options)).not.toBe(first);
  });

  it('are read anew, for the caller may have changed the object', () => {
    const options: { ttl: number } = { ttl: 7_000 };
    expect(layers.with(options).ttl).toBe(7_000);
    options.ttl = 8_000;
    expect(layers.with(options).ttl).toBe(8_000);
    options.ttl = 1;
    expect(() => layers.with(options)).toThrow(RangeError);
  });

  it('are checked as ever where one of them has a name that is no option', () => {
    layers.with({ ttl: 5_000, name: undefined });
    const options = { ttl: 5_000, nam: undefined } as LockOptions;
    expect(() => layers.with(options)).toThrow(TypeError);
  });

  it('are not remembered with a signal, which would live on', () => {
    const { signal } = new AbortController();
    expect(layers.with({ signal }).signal).toBe(signal);
    expect(layers.with({ signal })).not.toBe(layers.with({ signal }));
  });

  it('count with what their class has', () => {
    class Ours implements LockOptions {
      get ttl(): number {
        return 9_000;
      }
    }
    layers.with({});
    expect(layers.with(new Ours()).ttl).toBe(9_000);
  });

  it('may be of any number', () => {
    for (let ttl = 1_000; ttl < 1_100; ttl++) expect(layers.with({ ttl }).ttl).toBe(ttl);
    expect(layers.with({ ttl: 5_000, waitTimeout: 0 })).toEqual(first);
  });
});
