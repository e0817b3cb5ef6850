import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  DistributedLockModule,
  type DistributedLockModuleOptions,
  LockService,
  MemoryLockStore,
} from 'nest-holdfast';
import supertest from 'supertest';

export type AdapterName = 'express' | 'fastify';

/** For `describe.each`. */
export const ADAPTERS: readonly AdapterName[] = ['express', 'fastify'];

export interface TestAppOptions extends ModuleMetadata {
  /** @default 'express' */
  readonly adapter?: AdapterName;
  /** Options of the `DistributedLockModule`. */
  readonly lockOptions?: DistributedLockModuleOptions;
  /** Is called with the application before it starts. */
  readonly prepare?: (app: INestApplication) => unknown;
}

/** A Nest application with locks in memory, and what the locks went through. */
export class TestApp implements AsyncDisposable {
  readonly locks: LockService;
  /** `+key` for every grant and `-key` for every release, in order. */
  readonly log: string[] = [];

  constructor(
    readonly app: INestApplication,
    /** Another process that locks in the same store. */
    readonly elsewhere: LockService,
  ) {
    this.locks = app.get(LockService);
    this.locks.events.on('held', ({ keys }) => this.log.push(`+${keys.join('+')}`));
    this.locks.events.on('released', ({ keys }) => this.log.push(`-${keys.join('+')}`));
  }

  get<T>(type: Type<T>): T {
    return this.app.get(type);
  }

  get http() {
    return supertest(this.app.getHttpServer() as never);
  }

  /** Empties the log. */
  takeLog(): string[] {
    return this.log.splice(0);
  }

  isFree = async (key: string): Promise<boolean> => (await this.locks.inspect(key)) === undefined;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
    await this.elsewhere.close();
  }
}

/** Starts an application that listens on a free loopback port. */
export async function startApp({
  adapter = 'express',
  lockOptions,
  prepare,
  imports = [],
  ...metadata
}: TestAppOptions): Promise<TestApp> {
  const store = lockOptions?.store ?? new MemoryLockStore();
  const testing = await Test.createTestingModule({
    ...metadata,
    imports: [DistributedLockModule.forRoot({ ...lockOptions, store }), ...imports],
  }).compile();
  const app = testing.createNestApplication(
    adapter === 'express' ? new ExpressAdapter() : (new FastifyAdapter() as never),
    { logger: false },
  );
  await prepare?.(app);
  await app.listen(0, '127.0.0.1');
  return new TestApp(app, new LockService(store));
}

/** An application context without HTTP, for what needs none. */
export async function startServices(
  providers: NonNullable<ModuleMetadata['providers']>,
  lockOptions?: DistributedLockModuleOptions,
): Promise<TestApp> {
  const store = lockOptions?.store ?? new MemoryLockStore();
  const testing = await Test.createTestingModule({
    providers,
    imports: [DistributedLockModule.forRoot({ ...lockOptions, store })],
  }).compile();
  const app = testing.createNestApplication({ logger: false });
  await app.init();
  return new TestApp(app, new LockService(store));
}
