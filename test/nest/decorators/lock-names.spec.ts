import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  LockService,
  OncePerTick,
  Semaphore,
} from 'nest-holdfast';

class Orders {
  @DistributedLock('order:<id>')
  async pay(id: string) {
    return id;
  }

  @DistributedLock(['order:<id>', 'stock'], { ttl: 10_000 })
  async ship(id: string) {
    return id;
  }

  @DistributedLock('order:<id>', { name: 'cancel' })
  async cancel(id: string) {
    return id;
  }

  @DistributedLock((id: string) => `order:${id}`)
  async find(id: string) {
    return id;
  }

  @Semaphore(`${'long:'.repeat(50)}<id>`, { permits: 2 })
  async export(id: string) {
    return id;
  }

  @OncePerTick('nightly', { every: 60_000 })
  async report() {}
}

describe('The name of the lock of a decorated method', () => {
  const names: (string | undefined)[] = [];
  let orders: Orders;
  let close: () => Promise<void>;

  beforeAll(async () => {
    const imports = [DistributedLockModule.forRoot()];
    const module = await Test.createTestingModule({ imports, providers: [Orders] }).compile();
    await module.init();
    orders = module.get(Orders);
    module.get(LockService).events.on('held', ({ name }) => names.push(name));
    close = () => module.close();
  });
  beforeEach(() => void names.splice(0));
  afterAll(() => close());

  it.each([
    ['its template', 'pay', 'order:<id>'],
    ['its templates', 'ship', 'order:<id>, stock'],
    ['its option, where it has one', 'cancel', 'cancel'],
    ['missing, where a function makes the key', 'find', undefined],
    ['the first 200 characters of its template', 'export', 'long:'.repeat(40)],
    ['that of its tick', 'report', 'nightly'],
  ] as const)('is %s', async (_, method, name) => {
    await orders[method]('7');
    expect(names).toEqual([name]);
  });
});
