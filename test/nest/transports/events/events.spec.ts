import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { DistributedLock, LockService } from 'nest-holdfast';
import { ChildProcess } from '../../../support/processes/child-process.js';
import { ERROR_NAMES, NestLog } from './events-log.js';
import { type TransportApp, openTransport } from '../support/transport-app.js';
import { TROUBLES } from '../support/troubles.js';
import type { Report } from './events.worker.js';

const AT_ONCE = { waitTimeout: 0 };
const LOUD = { suppressErrors: false };

interface Order {
  readonly id: number;
}

@Injectable()
class Listeners {
  ran: string[] = [];

  constructor(readonly locks: LockService) {}

  @DistributedLock('order:<order.id>', AT_ONCE)
  @OnEvent('above')
  async above(order: Order) {
    this.note(order);
  }

  @OnEvent('below')
  @DistributedLock('order:<order.id>', AT_ONCE)
  async below(order: Order) {
    this.note(order);
  }

  @DistributedLock('order:<order.id>', AT_ONCE)
  @OnEvent('loud above', LOUD)
  async loudAbove(order: Order) {
    this.note(order);
  }

  @OnEvent('loud below', LOUD)
  @DistributedLock('order:<order.id>', AT_ONCE)
  async loudBelow(order: Order) {
    this.note(order);
  }

  private note({ id }: Order) {
    this.ran.push(`${id} under ${this.locks.current()?.key}`);
  }
}

// Listeners that are granted their lock: schedule-decorators.spec.ts.
describe('listeners of @nestjs/event-emitter', () => {
  let transport: TransportApp;
  let log: NestLog;

  beforeAll(async () => {
    transport = await openTransport({
      imports: [EventEmitterModule.forRoot()],
      providers: [Listeners],
    });
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  beforeEach(() => {
    log = new NestLog();
    transport.app.useLogger(log);
    transport.get(Listeners).ran = [];
  });
  afterEach(() => {
    log[Symbol.dispose]();
    transport.control.reset();
  });

  const emitted = (event: string): Promise<unknown> =>
    transport.get(EventEmitter2).emitAsync(event, { id: 7 });

  describe.each(TROUBLES)('$name', ({ name, code, strike, hasRun }) => {
    const ran = hasRun ? ['7 under order:7'] : [];

    it.each(['above', 'below'])('is in the log, with the lock %s', async (event) => {
      strike(transport.control, 'order:7');
      await emitted(event);
      await log.untilError("'Event'", ERROR_NAMES[name], 'order:7');
      expect(transport.get(Listeners).ran).toEqual(ran);
    });

    it.each(['loud above', 'loud below'])(
      'is for who emits, where errors are not suppressed: %s',
      async (event) => {
        strike(transport.control, 'order:7');
        await expect(emitted(event)).rejects.toMatchObject({ code, key: 'order:7' });
        expect(transport.get(Listeners).ran).toEqual(ran);
        expect(log.errors).toEqual([]);
      },
    );
  });
});

it('no error of a lock without a waiting caller ends a strict process', async () => {
  await using worker = new ChildProcess<never, Report>(
    'test/nest/transports/events/events.worker.ts',
    {
      nodeArgs: ['--unhandled-rejections=strict'],
    },
  );
  const { errors } = await worker.next();
  for (const logger of ['Event', 'Scheduler', 'RpcExceptionsHandler']) {
    const logged = errors.filter((each) => each.includes(`'${logger}'`)).join();
    for (const error of Object.values(ERROR_NAMES)) {
      expect([logger, logged]).toEqual([logger, expect.stringContaining(error)]);
    }
  }
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  expect(worker.output).toBe('');
});
