import { Inject, Injectable, Logger, Scope } from '@nestjs/common';
import type { ModuleMetadata, OnModuleInit } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService, MemoryLockStore } from 'nest-holdfast';
import type { LeaderTerm } from 'nest-holdfast/core';
import { getLeadersToken, LeaderService } from 'nest-holdfast';
import { OnElected } from 'nest-holdfast';
import { until } from '../../support/until.js';
import { Deferred } from '../support/deferred.js';
import { refusal } from '../support/refusal.js';
import { startServices, type TestApp } from '../support/test-app.js';

@Injectable()
class Scheduler implements OnModuleInit {
  readonly terms: LeaderTerm[] = [];
  readonly events: string[] = [];
  work: (term: LeaderTerm) => unknown = () => undefined;

  constructor(
    readonly leaders: LeaderService,
    readonly locks: LockService,
  ) {}

  onModuleInit(): void {
    const { events } = this.leaders.of('scheduler');
    events.on('resigned', () => this.events.push('resigned'));
    events.on('lost', () => this.events.push('lost'));
  }

  @OnElected('scheduler', { pause: 20, retryDelay: 10, retryJitter: 0 })
  async lead(term: LeaderTerm): Promise<void> {
    this.terms.push(term);
    await this.work(term);
  }
}

describe('@OnElected', () => {
  let store: MemoryLockStore;
  let apps: TestApp[];

  beforeEach(() => {
    store = new MemoryLockStore();
    apps = [];
  });
  afterEach(async () => {
    for (const app of apps) await app[Symbol.asyncDispose]();
  });

  async function start(): Promise<{ app: TestApp; scheduler: Scheduler }> {
    const app = await startServices([Scheduler], { store });
    apps.push(app);
    return { app, scheduler: app.get(Scheduler) };
  }

  const isLeader = ({ leaders }: Scheduler) => leaders.of('scheduler').isLeader;

  it('calls the method of one application, and tells both who leads', async () => {
    const { scheduler: first } = await start();
    await until(() => first.terms.length === 1);
    const { scheduler: second } = await start();
    expect([first, second].map(isLeader)).toEqual([true, false]);
    const leader = await second.leaders.of('scheduler').leader();
    expect(leader!.fencingToken).toBe(first.terms[0]!.fencingToken);
    expect(leader!.holder).toContain(`:${process.pid}:`);
  });

  it('resigns when its application shuts down, while its locks are still open, and another one leads', async () => {
    const { app, scheduler: first } = await start();
    await until(() => first.terms.length === 1);
    const { scheduler: second } = await start();
    const ended = new Deferred();
    first.terms[0]!.signal.addEventListener('abort', () => {
      const last = first.locks.withLock('last words', async () => undefined);
      last.then(ended.resolve, ended.reject);
    });
    await app.app.close();
    await ended.promise;
    expect(first.terms[0]!.signal.reason).toMatchObject({ reason: 'released' });
    expect(first.events).toEqual(['resigned']);
    await until(() => isLeader(second));
    expect(second.terms[0]!.fencingToken).toBeGreaterThan(first.terms[0]!.fencingToken);
  });

  it('lets the method end what it is at before the shutdown goes on', async () => {
    const { app, scheduler } = await start();
    const ends = new Deferred();
    scheduler.work = () => ends.promise;
    await scheduler.leaders.of('scheduler').resign();
    await until(() => scheduler.terms.length === 2);
    const closed = app.app.close();
    const term = scheduler.terms[1]!;
    await until(() => term.signal.aborted);
    expect(() => term.assertHeld()).not.toThrow();
    ends.resolve();
    await closed;
    expect(() => term.assertHeld()).toThrow(/no longer held/);
    expect(store.held()).toEqual([]);
  });

  it('reports a method that throws, resigns, and stands again', async () => {
    const report = jest.spyOn(Logger.prototype, 'error').mockImplementation();
    const { scheduler } = await start();
    const error = new Error('of the method');
    scheduler.work = () => Promise.reject(error);
    await scheduler.leaders.of('scheduler').resign();
    await until(() => scheduler.terms.length >= 3);
    scheduler.work = () => undefined;
    expect(report).toHaveBeenCalledWith(error);
    await until(() => isLeader(scheduler));
    report.mockRestore();
  });

  it('stands in the instance of locks that it names, also for an instance that Nest was handed ready-made', async () => {
    const elected = new Deferred<LeaderTerm>();
    class Named {
      @OnElected('scheduler', { locks: 'billing' })
      lead(term: LeaderTerm) {
        elected.resolve(term);
      }
    }
    @Injectable()
    class Asking {
      constructor(@Inject(getLeadersToken('billing')) readonly leaders: LeaderService) {}
    }
    const testing = await Test.createTestingModule({
      imports: [
        DistributedLockModule.forRoot({ store: new MemoryLockStore() }),
        DistributedLockModule.forRoot({ name: 'billing', store }),
      ],
      providers: [
        { provide: Named, useValue: new Named() },
        { provide: 'alias', useExisting: Named },
        Asking,
      ],
    }).compile();
    await testing.init();
    expect((await elected.promise).key).toBe('leader:scheduler');
    expect(store.held()).toEqual(['leader:scheduler']);
    expect(testing.get(Asking).leaders.of('scheduler').isLeader).toBe(true);
    expect(() => testing.get(LeaderService).of('scheduler')).toThrow(
      "No method has @OnElected('scheduler'); known elections: none",
    );
    await testing.close();
    expect(store.held()).toEqual([]);
  });

  describe('does not let an application start', () => {
    const init = async (metadata: ModuleMetadata) => {
      const module = DistributedLockModule.forRoot({ store });
      const testing = await Test.createTestingModule({ ...metadata, imports: [module] }).compile();
      try {
        await testing.init();
      } finally {
        await testing.close();
      }
    };

    @Injectable()
    class Other {
      @OnElected('scheduler')
      lead() {}
    }

    it('without its module', async () => {
      const testing = Test.createTestingModule({ providers: [Other] });
      await expect(testing.compile()).rejects.toThrow('import DistributedLockModule.forRoot()');
    });

    it('where two methods would be elected', async () => {
      class Further extends Other {}
      await expect(init({ providers: [Other, Further] })).rejects.toThrow(
        /^@OnElected on Other\.lead: "scheduler" is that of @OnElected on Other\.lead; one method/,
      );
    });

    it.each([
      ['request', Scope.REQUEST],
      ['transient', Scope.TRANSIENT],
    ])('where there is no one instance: %s', async (_, scope) => {
      @Injectable({ scope })
      class Scoped {
        @OnElected('scheduler')
        lead() {}
      }
      await expect(init({ providers: [Scoped] })).rejects.toThrow(
        /^@OnElected on Scoped\.lead: there must be one instance/,
      );
    });
  });

  it.each<[string, unknown, unknown, RegExp]>([
    ['no name', '', {}, /the name of an election must be a string/],
    [
      'an unknown option',
      'x',
      { every: 5 },
      /^@OnElected on Named\.lead: unknown option "every"; known options are ttl, /,
    ],
    ['a misspelt one', 'x', { loks: 'a' }, /unknown option "loks" \(did you mean locks\?\)/],
    ['what the method is for', 'x', { onElected: () => 1 }, /unknown option "onElected"/],
    [
      'no object',
      'x',
      5_000,
      /^@OnElected on Named\.lead: the options must be an object, .* got 5000/,
    ],
    ['a placeholder', 'x:<id>', {}, /the name of an election has no placeholders, got "x:<id>"/],
    ['a wrong pause', 'x', { pause: '1s' }, /pause must be a whole number of ms/],
  ])('refuses %s when the class is defined', (_, name, options, message) => {
    const error = refusal(() => {
      class Named {
        @OnElected(name as never, options as never)
        lead() {}
      }
      return Named;
    });
    expect(error.message).toMatch(message);
  });
});
