import { Injectable, Scope } from '@nestjs/common';
import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  type ICommandHandler,
  type IEvent,
  type IEventHandler,
  type IQueryHandler,
  ofType,
  QueryBus,
  QueryHandler,
  Saga,
  UnhandledExceptionBus,
  type UnhandledExceptionInfo,
} from '@nestjs/cqrs';
import { DistributedLock, LockService } from 'nest-holdfast';
import { map, type Observable } from 'rxjs';
import { until } from '../../../support/until.js';
import { openTransport, type TransportApp } from '../support/transport-app.js';
import { TROUBLES } from '../support/troubles.js';

const AT_ONCE = { waitTimeout: 0 };

class Pay {
  constructor(readonly id: string) {}
}
class PayPerRequest {
  constructor(readonly id: string) {}
}
class Ship {
  constructor(readonly id: string) {}
}
class Find {
  constructor(readonly id: string) {}
}
class Paid {
  constructor(readonly id: string) {}
}

/** The handlers that ran, with their keys. */
@Injectable()
class Record {
  readonly ran: string[] = [];

  constructor(private readonly locks: LockService) {}

  add(what: string): string {
    const entry = `${what} under ${this.locks.current()?.key}`;
    this.ran.push(entry);
    return entry;
  }
}

@CommandHandler(Pay)
class PayHandler implements ICommandHandler<Pay> {
  constructor(private readonly record: Record) {}

  @DistributedLock('order:<command.id>', AT_ONCE)
  async execute(command: Pay) {
    return this.record.add(`pay ${command.id}`);
  }
}

@CommandHandler(PayPerRequest, { scope: Scope.REQUEST })
class PayPerRequestHandler implements ICommandHandler<PayPerRequest> {
  constructor(private readonly record: Record) {}

  @DistributedLock('order:<command.id>', AT_ONCE)
  async execute(command: PayPerRequest) {
    return this.record.add(`pay ${command.id}`);
  }
}

@CommandHandler(Ship)
class ShipHandler implements ICommandHandler<Ship> {
  constructor(private readonly record: Record) {}

  @DistributedLock('parcel:<command.id>', AT_ONCE)
  async execute(command: Ship) {
    this.record.add(`ship ${command.id}`);
  }
}

@QueryHandler(Find)
class FindHandler implements IQueryHandler<Find> {
  constructor(private readonly record: Record) {}

  @DistributedLock('order:<query.id>', AT_ONCE)
  async execute(query: Find) {
    return this.record.add(`find ${query.id}`);
  }
}

@EventsHandler(Paid)
class PaidHandler implements IEventHandler<Paid> {
  constructor(private readonly record: Record) {}

  @DistributedLock('mail:<event.id>', AT_ONCE)
  async handle(event: Paid) {
    this.record.add(`mail ${event.id}`);
  }
}

@Injectable()
class Sagas {
  @Saga()
  paid(events: Observable<IEvent>): Observable<Ship> {
    return events.pipe(
      ofType(Paid),
      map(({ id }) => new Ship(id)),
    );
  }
}

describe('CQRS', () => {
  let transport: TransportApp;
  const unhandled: UnhandledExceptionInfo<object>[] = [];

  beforeAll(async () => {
    transport = await openTransport({
      imports: [CqrsModule.forRoot()],
      providers: [
        Record,
        PayHandler,
        PayPerRequestHandler,
        ShipHandler,
        FindHandler,
        PaidHandler,
        Sagas,
      ],
    });
    transport
      .get(UnhandledExceptionBus)
      .subscribe((each) => unhandled.push(each as UnhandledExceptionInfo<object>));
  });
  afterAll(() => transport[Symbol.asyncDispose]());
  afterEach(() => {
    transport.control.reset();
    transport.takeLog();
    unhandled.length = 0;
    transport.get(Record).ran.length = 0;
  });

  const execute = (command: object): Promise<unknown> => transport.get(CommandBus).execute(command);
  const CALLS = {
    'a command': () => execute(new Pay('7')),
    'a command whose handler is of request scope': () => execute(new PayPerRequest('7')),
    'a query': (): Promise<unknown> => transport.get(QueryBus).execute(new Find('7')),
  };

  describe.each(Object.entries(CALLS))('%s', (_what, call) => {
    it('is handled under the lock', async () => {
      expect(await call()).toMatch(/^(pay|find) 7 under order:7$/);
      expect(transport.log).toEqual(['+order:7', '-order:7']);
    });

    it.each(TROUBLES)('rejects with the lock’s own error: $name', async (trouble) => {
      trouble.strike(transport.control, 'order:7');
      await expect(call()).rejects.toMatchObject({ code: trouble.code, key: 'order:7' });
      expect(transport.get(Record).ran).toHaveLength(trouble.hasRun ? 1 : 0);
    });
  });

  it('an event is handled under the lock, and a saga’s command, too', async () => {
    transport.get(EventBus).publish(new Paid('7'));
    const { ran } = transport.get(Record);
    await until(() => ran.length === 2);
    expect(ran.toSorted()).toEqual(['mail 7 under mail:7', 'ship 7 under parcel:7']);
  });

  it.each(TROUBLES)('errors of both go to the UnhandledExceptionBus: $name', async (trouble) => {
    trouble.strike(transport.control, 'mail:7');
    trouble.strike(transport.control, 'parcel:7');
    transport.get(EventBus).publish(new Paid('7'));
    await until(() => unhandled.length === 2);
    for (const { exception } of unhandled) expect(exception).toMatchObject({ code: trouble.code });
    const causes = unhandled.map(({ cause }) => cause.constructor.name);
    expect(causes.toSorted()).toEqual(['Paid', 'Ship']);
  });

  it('an event that found its key held does not end the subscription', async () => {
    const elsewhere = transport.control.hold('mail:7');
    transport.get(EventBus).publish(new Paid('7'));
    await until(() => unhandled.length === 1);
    elsewhere.release();
    transport.get(EventBus).publish(new Paid('7'));
    await until(() => transport.get(Record).ran.includes('mail 7 under mail:7'));
  });
});
