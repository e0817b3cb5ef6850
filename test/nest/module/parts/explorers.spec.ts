import { Injectable, Logger } from '@nestjs/common';
import { DistributedLock, LockService, MemoryLockStore, Semaphore } from 'nest-holdfast';
import { OnElected } from '../../../../lib/nest/decorators/on-elected.decorator';
import { linkReadyMadeInstances } from '../../../../lib/nest/module/lock-explorer';
import { LeaderService } from '../../../../lib/nest/module/leader.service';
import { findCandidates } from '../../../../lib/nest/module/leader-explorer';
import { checkSupport } from '../../../../lib/nest/module/support-checks';
import { locksProperty } from '../../../../lib/nest/plan/lock-tokens';
import { errorOf } from '../../../core/support/outcome';

interface Wrapped {
  readonly instance?: unknown;
  readonly metatype?: unknown;
  readonly isTransient?: boolean;
  readonly isRequestScoped?: boolean;
}

/** What Nest knows of an application with these providers and controllers. */
function discoveryOf(providers: readonly Wrapped[], controllers: readonly Wrapped[] = []) {
  const wrap = ({ isRequestScoped = false, ...each }: Wrapped) => ({
    ...each,
    isDependencyTreeStatic: () => !isRequestScoped,
  });
  return {
    getProviders: () => providers.map(wrap),
    getControllers: () => controllers.map(wrap),
  } as never;
}

@Injectable()
class Orders {
  @DistributedLock((id: string) => `order:${id}`)
  async pay(_id: string) {}

  @Semaphore('orders', { permits: 3 })
  async list() {}

  @DistributedLock('report', { locks: 'reports', mode: 'read' })
  async report() {}

  readonly notDecorated = 5;
  async plain() {}
}

class Plain {
  async pay() {}
}

describe('The kinds of locks that methods ask for', () => {
  const check = (
    providers: readonly Wrapped[],
    name?: string,
    controllers?: readonly Wrapped[],
  ) => {
    const locks = { checkSupport: jest.fn() };
    checkSupport(discoveryOf(providers, controllers), name, locks as never);
    return locks.checkSupport.mock.calls.map(([label, options]) => [label, options]);
  };
  const list = ['@Semaphore on Orders.list', expect.objectContaining({ permits: 3 })];
  const report = ['@DistributedLock on Orders.report', { mode: 'read', name: 'report' }];

  it('are checked for the instance of locks that they name', () => {
    expect(check([{ instance: new Orders() }])).toEqual([list]);
    expect(check([{ instance: new Orders() }], 'default')).toEqual([list]);
    expect(check([{ instance: new Orders() }], 'reports')).toEqual([report]);
    expect(check([], undefined, [{ instance: new Orders() }])).toEqual([list]);
  });

  it('are checked once for each class, also of instances that come with a request', () => {
    const both = [{ instance: new Orders() }, { metatype: Orders }, { instance: new Orders() }];
    expect(check(both)).toEqual([list]);
    expect(check([{ metatype: Orders }])).toEqual([list]);
  });

  it('are none of what has no methods', () => {
    const others = [undefined, null, 5, 'x', {}, Object.create(null) as object, new Plain()];
    expect(check(others.map((instance) => ({ instance })))).toEqual([]);
    expect(check([{ metatype: undefined }, { metatype: () => 5 }, { metatype: Plain }])).toEqual(
      [],
    );
  });

  it('are not checked by a mock', () => {
    expect(checkSupport(discoveryOf([{ instance: new Orders() }]), undefined, {} as never)).toBeUndefined(); // prettier-ignore
  });
});

describe('An instance that Nest was handed ready-made', () => {
  const locks = {} as never;
  const property = locksProperty();
  const linkedOf = (instance: object) => (instance as Record<symbol, unknown>)[property];

  it('is linked to the locks of its application, until that ends', () => {
    const orders = new Orders();
    const unlink = linkReadyMadeInstances(discoveryOf([{ instance: orders }]), undefined, locks);
    expect(linkedOf(orders)).toBe(locks);
    unlink();
    expect(linkedOf(orders)).toBeUndefined();
  });

  it('may be a controller, and may be found twice', () => {
    const orders = new Orders();
    const discovery = discoveryOf([{ instance: orders }], [{ instance: orders }]);
    linkReadyMadeInstances(discovery, undefined, locks);
    expect(linkedOf(orders)).toBe(locks);
  });

  it('that is linked already stays so when this application ends', () => {
    const orders = new Orders();
    Object.assign(orders, { [property]: locks });
    linkReadyMadeInstances(discoveryOf([{ instance: orders }]), undefined, locks)();
    expect(linkedOf(orders)).toBe(locks);
  });

  it('is not linked where each request has its own, or it has no locks of this name', () => {
    const orders = new Orders();
    linkReadyMadeInstances(discoveryOf([{ instance: orders, isRequestScoped: true }]), undefined, locks); // prettier-ignore
    linkReadyMadeInstances(discoveryOf([{ instance: orders }]), 'others', locks);
    const others = [null, undefined, 5, {}, new Plain()].map((instance) => ({ instance }));
    linkReadyMadeInstances(discoveryOf(others), undefined, locks);
    expect(linkedOf(orders)).toBeUndefined();
  });

  it('is that of one application only', () => {
    const orders = new Orders();
    linkReadyMadeInstances(discoveryOf([{ instance: orders }]), undefined, locks);
    const other = () => linkReadyMadeInstances(discoveryOf([{ instance: orders }]), undefined, {} as never); // prettier-ignore
    expect(errorOf(other).message).toMatch(/^An instance of Orders has methods with @DistributedLock and meets the LockServices of two/); // prettier-ignore
  });
});

class Jobs {
  @OnElected('scheduler')
  async lead() {}

  @OnElected('reports', { locks: 'reports' })
  async report() {}
}

describe('The elections of an application', () => {
  const own = (...instances: object[]) => {
    const discovery = discoveryOf(instances.map((instance) => ({ instance })));
    return new LeaderService(new LockService(new MemoryLockStore()), discovery, undefined);
  };

  it('are found by their names, and the others are told', () => {
    const leaders = own(new Jobs());
    expect(leaders.of('scheduler')).toBe(leaders.of('scheduler'));
    const message = "No method has @OnElected('x'); known elections: scheduler";
    expect(errorOf(() => leaders.of('x')).message).toBe(message);
    expect(errorOf(() => own().of('x')).message).toMatch(/known elections: none$/);
  });

  it('have one method each', () => {
    class Others {
      @OnElected('scheduler')
      async work() {}
    }
    const message = '@OnElected on Others.work: "scheduler" is that of @OnElected on Jobs.lead; one method is elected, let it call others'; // prettier-ignore
    expect(errorOf(() => own(new Jobs(), new Others()).of('scheduler')).message).toBe(message);
  });

  it('end also where none has begun', async () => {
    await expect(own(new Jobs()).onModuleDestroy()).resolves.toBeUndefined();
  });

  it('tell the logger of Nest what failed, and what was lost', () => {
    const logger = { error: jest.fn(), warn: jest.fn() };
    for (const level of ['error', 'warn'] as const)
      jest.spyOn(Logger.prototype, level).mockImplementation(logger[level]);
    const { events } = own(new Jobs()).of('scheduler');
    const error = new Error('failed');
    events.emit('failed', error);
    events.emit('lost', {} as never, Object.assign(new Error('lost')) as never);
    jest.restoreAllMocks();
    expect([logger.error.mock.calls, logger.warn.mock.calls]).toEqual([[[error]], [['lost']]]);
  });
});

describe('A method whose name is a symbol', () => {
  const secret = Symbol('secret');
  class Base {
    @OnElected('cleaner')
    async [secret]() {
      return 'led';
    }

    @Semaphore('rooms', { permits: 2 })
    async [Symbol.for('enter')]() {}
  }
  class Derived extends Base {}

  it('may be a candidate, also of a subclass', () => {
    const [candidate] = findCandidates(discoveryOf([{ instance: new Derived() }]));
    expect(candidate).toMatchObject({ name: 'cleaner', property: secret });
  });

  it('is checked as others are', () => {
    const locks = { checkSupport: jest.fn() };
    checkSupport(discoveryOf([{ metatype: Derived }]), undefined, locks as never);
    expect(locks.checkSupport.mock.calls.map(([label]) => label)).toEqual(['@Semaphore on Base.Symbol(enter)']); // prettier-ignore
  });
});

describe('The candidates of an application', () => {
  const named = (...all: Parameters<typeof findCandidates>) =>
    findCandidates(...all).map(({ name, property }) => [name, property]);

  it('are those of the instance of locks that they name, each once', () => {
    const instance = new Jobs();
    const discovery = discoveryOf([{ instance }, { instance }], [{ instance }]);
    expect(named(discovery)).toEqual([['scheduler', 'lead']]);
    expect(named(discovery, 'reports')).toEqual([['reports', 'report']]);
    expect(named(discovery, 'others')).toEqual([]);
    expect(findCandidates(discovery)[0]).toMatchObject({ instance, label: '@OnElected on Jobs.lead' }); // prettier-ignore
  });

  it('are none of what has no methods', () => {
    const others = [undefined, null, 5, {}, Object.create(null) as object, new Plain()];
    expect(named(discoveryOf(others.map((instance) => ({ instance }))))).toEqual([]);
  });

  it('are none of a method that the instance has something else in place of', () => {
    const instance = Object.assign(new Jobs(), { lead: 5 });
    expect(named(discoveryOf([{ instance }]))).toEqual([]);
  });

  it.each([{ isTransient: true }, { isRequestScoped: true }])('have one instance: %j', (scope) => {
    const discovery = discoveryOf([{ instance: new Jobs(), ...scope }]);
    expect(errorOf(() => findCandidates(discovery)).message).toBe('@OnElected on Jobs.lead: there must be one instance, the class may not be request-scoped or transient'); // prettier-ignore
    expect(named(discovery, 'others')).toEqual([]);
  });
});
