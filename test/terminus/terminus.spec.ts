import { Controller, Get, Inject, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import * as terminus from '@nestjs/terminus';
import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService, MemoryLockStore } from 'nest-holdfast';
import { LockHealthIndicator } from 'nest-holdfast/terminus';

const COUNTS = { up: 3, needed: 2, total: 3 };

/** A store of three nodes, of which `up` answer. */
class CountedStore extends MemoryLockStore {
  up = 3;
  async countNodes() {
    return { ...COUNTS, up: this.up };
  }
}

@Controller()
class HealthController {
  constructor(
    @Inject(HealthCheckService) readonly health: HealthCheckService,
    @Inject(LockHealthIndicator) readonly locks: LockHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  check() {
    return this.health.check([() => this.locks.isHealthy('locks', { probe: 'lock' })]);
  }
}

/** By what the package that is installed has: 10, 11 or 12. */
function majorOfTerminus(): number {
  const { HealthIndicatorService } = { ...(terminus as object) } as {
    HealthIndicatorService?: new () => { check(key: string): object };
  };
  if (!HealthIndicatorService) return 10;
  return 'degraded' in new HealthIndicatorService().check('a') ? 12 : 11;
}

describe(`LockHealthIndicator, on terminus ${majorOfTerminus()}`, () => {
  const store = new CountedStore();
  const major = majorOfTerminus();

  @Module({
    imports: [TerminusModule.forRoot({ logger: false }), DistributedLockModule.forRoot({ store })],
    controllers: [HealthController],
    providers: [LockHealthIndicator],
  })
  class AppModule {}

  async function ready(up: number): Promise<{ status: string; details: { locks: object } }> {
    store.up = up;
    const app = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const answer = await app.get(HealthController).check().catch((error: { getResponse(): unknown }) => error.getResponse()); // prettier-ignore
    await app.close();
    return answer as never;
  }

  it('says that locks can be taken', async () => {
    expect(await ready(3)).toMatchObject({
      status: 'ok',
      details: { locks: { status: 'up', store: 'memory', nodes: COUNTS } },
    });
  });

  it('says that a node is away', async () => {
    const locks = major >= 12 ? { status: 'degraded' } : { status: 'up', degraded: true };
    const answer = await ready(2);
    expect(answer).toMatchObject({ status: major >= 12 ? 'degraded' : 'ok', details: { locks } });
    expect(answer.details.locks).toMatchObject({ nodes: { ...COUNTS, up: 2 } });
  });

  it('says that no lock can be taken, as an answer of 503', async () => {
    expect(await ready(1)).toMatchObject({ status: 'error', details: { locks: { status: 'down' } } }); // prettier-ignore
  });

  it('probes the locks that it is given', async () => {
    const own = new LockService(new MemoryLockStore());
    const indicator = new LockHealthIndicator();
    expect(await indicator.isHealthy('own', { locks: own })).toMatchObject({ own: { status: 'up' } }); // prettier-ignore
    await expect(indicator.isHealthy('own')).rejects.toThrow('give isHealthy the option locks');
    await own.close();
  });
});
