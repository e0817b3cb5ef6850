import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants';
import { LockService } from 'nest-holdfast';
import {
  carryOver,
  decoratedMethod,
  injectLocks,
  labelOf,
} from '../../../lib/nest/decorators/decorated-method';
import { locksProperty } from '../../../lib/nest/plan/lock-tokens';
import { errorOf } from '../../core/support/outcome';

describe('The property for the service of a decorated class', () => {
  const property = locksProperty();
  const valueOf = (instance: object) => (instance as Record<symbol, unknown>)[property];

  it('is filled by Nest, once for all methods, and for each instance', () => {
    class Orders {}
    injectLocks(Orders.prototype, undefined);
    injectLocks(Orders.prototype, undefined);
    const injected = Reflect.getMetadata(PROPERTY_DEPS_METADATA, Orders) as object[];
    expect(injected).toEqual([{ key: property, type: LockService }]);
    const [one, other] = [new Orders(), new Orders()];
    expect(valueOf(one)).toBeUndefined();
    const service = {};
    Object.assign(one, { [property]: service });
    expect([valueOf(one), valueOf(other)]).toEqual([service, undefined]);
    expect(Object.keys(one)).toEqual([]);
  });

  it('may be given another value, and may be defined anew', () => {
    class Orders {}
    injectLocks(Orders.prototype, undefined);
    const orders = new Orders();
    for (const service of [1, 2, undefined]) {
      Object.assign(orders, { [property]: service });
      expect(valueOf(orders)).toBe(service);
    }
    for (const target of [orders, Orders.prototype]) {
      Object.defineProperty(target, property, { value: 5, configurable: true });
      expect(valueOf(target)).toBe(5);
    }
  });

  it('is another one for each name', () => {
    class Orders {}
    injectLocks(Orders.prototype, undefined);
    injectLocks(Orders.prototype, 'reports');
    const injected = Reflect.getMetadata(PROPERTY_DEPS_METADATA, Orders) as object[];
    expect(injected).toHaveLength(2);
  });
});

describe('A decorated method', () => {
  it('is the value of its descriptor', () => {
    const method = () => {};
    expect(decoratedMethod('@X', {}, { value: method })).toBe(method);
    for (const other of [undefined, {}, { value: 5 }, { get: () => method }])
      expect(errorOf(() => decoratedMethod('@X', {}, other)).message).toBe('@X: only methods can be locked, not accessors or properties'); // prettier-ignore
    const onClass = errorOf(() => decoratedMethod('@X', class {}, { value: method }));
    expect(onClass.message).toMatch(/^@X: a static method has no instance/);
  });

  it('hands its metadata and its properties to what comes in its place', () => {
    function method(_one: unknown, _two: unknown) {}
    Object.assign(method, { own: 5 });
    Reflect.defineMetadata('route', '/a', method);
    function locked() {}
    const { prototype } = locked;
    carryOver(method, locked);
    expect([locked.name, locked.length, Reflect.get(locked, 'own')]).toEqual(['method', 2, 5]);
    expect(Reflect.getMetadata('route', locked)).toBe('/a');
    expect(locked.prototype).toBe(prototype);
  });

  it('is named by its class in messages', () => {
    class Orders {}
    expect(labelOf('@X', Orders.prototype, 'pay')).toBe('@X on Orders.pay');
    expect(labelOf('@X', Orders, 'pay')).toBe('@X on Orders.pay');
    expect(labelOf('@X', Orders.prototype, Symbol('pay'))).toBe('@X on Orders.Symbol(pay)');
    const context = errorOf(() => labelOf('@X', Orders.prototype, { kind: 'method' } as never));
    expect(context.message).toMatch(/^@X: this build compiles decorators as ECMAScript has them/);
  });
});
