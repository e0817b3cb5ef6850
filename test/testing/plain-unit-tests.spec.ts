import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  DistributedLock,
  DistributedLockModule,
  LockService,
  LockTimeoutError,
  Semaphore,
} from 'nest-holdfast';
import { FakeClock, LockControl, LockTestingModule, useLocks } from 'nest-holdfast/testing';

@Injectable()
class Gateway {
  async charge(id: string) {
    return `charged ${id}`;
  }
}

@Injectable()
class Payments {
  constructor(readonly gateway: Gateway) {}

  @DistributedLock('order:<id>', { waitTimeout: 0 })
  async pay(id: string) {
    return this.gateway.charge(id);
  }

  @Semaphore('export:<id>', { permits: 2, locks: 'exports' })
  async export(id: string) {
    return id;
  }
}

/** Calls the service itself, and has no decorator. */
@Injectable()
class Refunds {
  constructor(readonly locks: LockService) {}

  async refund(id: string) {
    return this.locks.withLock(`order:${id}`, async () => `refunded ${id}`);
  }
}

const gateway = { charge: async (id: string) => `mocked ${id}` };

describe('new Payments(mock).pay() in a plain test', () => {
  it('says what to write', async () => {
    await expect(new Payments(gateway).pay('7')).rejects.toThrow(
      /Payments\.pay: this instance has no LockService: .* useLocks\(instance\), from 'nest-holdfast\/testing'/,
    );
  });

  it('works with useLocks, which returns the object', async () => {
    const payments = new Payments(gateway);
    expect(useLocks(payments)).toBe(payments);
    expect(await payments.pay('7')).toBe('mocked 7');
    expect(await payments.export('7')).toBe('7');
  });

  it('is held, busy and free on command', async () => {
    const control = new LockControl();
    const payments = useLocks(new Payments(gateway), control);
    control.busy('order:7');
    await expect(payments.pay('7')).rejects.toThrow(LockTimeoutError);
    control.free('order:7');
    expect(await payments.pay('7')).toBe('mocked 7');
  });

  it('objects with one control exclude each other', async () => {
    const control = new LockControl();
    const [one, other] = [1, 2].map(() => useLocks(new Payments(gateway), control));
    const slow = { charge: () => other!.pay('7') };
    Object.assign(one!, { gateway: slow });
    await expect(one!.pay('7')).rejects.toThrow(LockTimeoutError);
  });

  it.each([{}, new Gateway(), 7 as never])('refuses what has no locks: %p', (what) => {
    expect(() => useLocks(what)).toThrow(/^useLocks: .* has no method with @DistributedLock/);
  });
});

describe('a mock in place of LockService', () => {
  const withLock = async (_key: string, work: () => unknown) => work();

  it('works for a service that calls it', async () => {
    const mock = { provide: LockService, useValue: { withLock } };
    const testing = await Test.createTestingModule({ providers: [Refunds, mock] }).compile();
    expect(await testing.get(Refunds).refund('7')).toBe('refunded 7');
    await testing.close();
  });

  it.each([
    ['{ withLock }', { withLock }],
    ['one of jest.fn()', { withLock: jest.fn(), enter: jest.fn() }],
  ])('is refused by a decorated method with what to write: %s', async (_, useValue) => {
    @Injectable()
    class Orders {
      @DistributedLock('order:<id>')
      async pay(id: string) {
        return id;
      }
    }
    const mock = { provide: LockService, useValue };
    const testing = await Test.createTestingModule({ providers: [Orders, mock] }).compile();
    await expect(testing.get(Orders).pay('7')).rejects.toThrow(
      /Orders\.pay: the LockService of this instance is a mock.* LockTestingModule.forRoot\(control\)/,
    );
    await testing.close();
  });

  it('by useMocker, too', async () => {
    const testing = await Test.createTestingModule({ providers: [Refunds] })
      .useMocker(() => ({ withLock }))
      .compile();
    expect(await testing.get(Refunds).refund('7')).toBe('refunded 7');
    await testing.close();
  });

  it('as an override of a whole application, which starts and closes', async () => {
    const testing = await Test.createTestingModule({
      imports: [DistributedLockModule.forRoot()],
      providers: [Refunds],
    })
      .overrideProvider(LockService)
      .useValue({ withLock })
      .compile();
    await testing.init();
    expect(await testing.get(Refunds).refund('7')).toBe('refunded 7');
    await testing.close();
  });
});

it('LockTestingModule.forRoot() alone: Nest says which module is missing', async () => {
  const compiling = Test.createTestingModule({
    imports: [LockTestingModule.forRoot()],
    providers: [Gateway, Payments],
  }).compile();
  await expect(compiling).rejects.toThrow(/import DistributedLockModule\.forRoot\(/);
});

describe('compile() without init()', () => {
  it('has the locks of what Nest makes, under fake timers of both kinds', async () => {
    for (const kind of ['modern', 'legacy'] as const) {
      const control = new LockControl({ clock: new FakeClock() });
      const testing = await Test.createTestingModule({
        imports: [
          DistributedLockModule.forRoot(),
          DistributedLockModule.forRoot({ name: 'exports' }),
          LockTestingModule.forRoot(control),
        ],
        providers: [Gateway, Payments],
      }).compile();
      jest.useFakeTimers(kind === 'legacy' ? { legacyFakeTimers: true } : {});
      const payments = testing.get(Payments);
      expect(await payments.pay('7')).toBe('charged 7');
      control.busy('order:8');
      await expect(payments.pay('8')).rejects.toThrow(LockTimeoutError);
      jest.useRealTimers();
      await testing.close();
    }
  });
});
