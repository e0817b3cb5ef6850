import { LockService, MemoryLockStore } from 'nest-holdfast';
import { checkInstance, checkScope, locksOf } from '../../../../lib/nest/calls/locks-of';
import { locksProperty } from '../../../../lib/nest/plan/lock-tokens';
import { errorOf } from '../../../core/support/outcome';

const LABEL = '@DistributedLock on Orders.pay';

describe('The service of an instance', () => {
  const locks = new LockService(new MemoryLockStore());

  it('is that of its name', () => {
    const instance = { [locksProperty('reports')]: locks };
    expect(locksOf(instance, LABEL, locksProperty('reports'))).toBe(locks);
    expect(errorOf(() => locksOf(instance, LABEL, locksProperty())).message).toMatch(/^@DistributedLock on Orders.pay: this instance has no LockService/); // prettier-ignore
  });

  it('is no mock', () => {
    for (const mock of [{}, { enter: 5 }]) {
      const error = errorOf(() => locksOf({ [locksProperty()]: mock }, LABEL, locksProperty()));
      expect(error).toBeInstanceOf(TypeError);
      expect(error.message).toMatch(/^@DistributedLock on Orders.pay: the LockService of this instance is a mock/); // prettier-ignore
    }
  });

  it.each([undefined, null, 5, 'x'])('is missing where there is no instance: %j', (self) => {
    const message = `${LABEL} was called without its instance: call it as instance.method()`;
    expect(errorOf(() => checkInstance(self, LABEL)).message).toBe(message);
    expect(errorOf(() => locksOf(self, LABEL, locksProperty())).message).toBe(message);
  });
});

describe('The scope of a lock', () => {
  it('has the methods of one', () => {
    const scope = { run: () => 1, leave: () => 2 };
    expect(checkScope(scope, LABEL)).toBe(scope);
  });

  it.each([[undefined], [null], [{}], [{ run: () => 1 }], [{ leave: () => 1 }]])(
    'is no %j of a mock',
    (scope) => {
      expect(errorOf(() => checkScope(scope, LABEL)).message).toMatch(/ is a mock, /);
    },
  );
});
