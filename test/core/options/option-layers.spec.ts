import { OptionLayers } from '../../../lib/core/options/option-layers';

describe('the options of a service', () => {
  it('are its defaults, checked, where a call has none', () => {
    const layers = new OptionLayers({ ttl: 1_000 });
    expect(layers.defaults).toMatchObject({ ttl: 1_000, waitTimeout: 10_000 });
    expect(layers.with(undefined)).toBe(layers.defaults);
    expect(() => new OptionLayers({ ttl: 1 })).toThrow('ttl must be');
  });

  it('are overridden by those of a call', () => {
    const layers = new OptionLayers({ ttl: 1_000, waitTimeout: 5 });
    expect(layers.with({ ttl: 2_000 })).toMatchObject({ ttl: 2_000, waitTimeout: 5 });
    expect(() => layers.with({ ttl: 1 })).toThrow('ttl must be');
  });

  it('are resolved once for options that cannot change', () => {
    const layers = new OptionLayers({});
    const frozen = Object.freeze({ ttl: 2_000 });
    const resolved = layers.with(frozen);
    expect(resolved.ttl).toBe(2_000);
    expect(layers.with(frozen)).toBe(resolved);
  });

  it('are read again for options that can', () => {
    const layers = new OptionLayers({});
    const options = { ttl: 2_000 };
    expect(layers.with(options).ttl).toBe(2_000);
    options.ttl = 3_000;
    expect(layers.with(options).ttl).toBe(3_000);
  });

  it('are read again where a getter gives them', () => {
    const layers = new OptionLayers({});
    let ttl = 2_000;
    const own = Object.freeze({ get ttl() { return ttl; } }); // prettier-ignore
    const ofItsClass = Object.freeze(Object.create(own) as { ttl: number });
    expect([layers.with(own).ttl, layers.with(ofItsClass).ttl]).toEqual([2_000, 2_000]);
    ttl = 3_000;
    expect([layers.with(own).ttl, layers.with(ofItsClass).ttl]).toEqual([3_000, 3_000]);
  });

  it('are not shared with another service', () => {
    const frozen = Object.freeze({ ttl: 2_000 });
    const [first, second] = [5, 6].map((waitTimeout) => new OptionLayers({ waitTimeout }));
    expect(first!.with(frozen).waitTimeout).toBe(5);
    expect(second!.with(frozen).waitTimeout).toBe(6);
  });
});
