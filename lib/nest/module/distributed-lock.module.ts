import { ConfigurableModuleBuilder, Inject, Logger, Module } from '@nestjs/common';
import type {
  BeforeApplicationShutdown,
  DynamicModule,
  OnApplicationBootstrap,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { LockService } from '../../core/lock.service.js';
import { linkReadyMadeInstances } from './lock-explorer.js';
import { lockProviders, MODULE_CONNECTIONS, MODULE_LOCKS } from './lock-providers.js';
import {
  checkAsyncOptions,
  checkExtras,
  checkIsModuleOptions,
  MODULE,
  MODULE_NAME,
} from './module-checks.js';
import type {
  AsyncModuleOptions,
  DistributedLockModuleExtras,
  DistributedLockModuleOptions,
  DistributedLockOptionsFactory,
} from './module-options.js';
import { warnWithoutShutdownHooks } from './shutdown-hooks.js';
import { checkSupport } from './support-checks.js';
import type { RedisConnections } from './redis/redis-nodes.js';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<DistributedLockModuleOptions>({ moduleName: 'DistributedLock' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName(
      'createDistributedLockOptions' satisfies keyof DistributedLockOptionsFactory,
    )
    .setExtras<DistributedLockModuleExtras>(
      { isGlobal: true, name: undefined }, // only what is listed here is kept apart from the options
      (definition, { isGlobal = true, name }) => {
        checkExtras({ isGlobal, name });
        const { providers, exported } = lockProviders(MODULE_OPTIONS_TOKEN, name);
        return {
          ...definition,
          global: isGlobal,
          providers: [...(definition.providers ?? []), ...providers],
          exports: exported,
        };
      },
    )
    .build();

/** Stores whose locks end with the process, however that ends. */
const IN_THIS_PROCESS = ['memory', 'disabled'];

/**
 * Registers a `LockService` and, where it is asked for, the Redis client behind it.
 *
 * ```ts
 * @Module({ imports: [DistributedLockModule.forRoot({ redis: 'redis://localhost:6379' })] })
 * ```
 *
 * When the application shuts down, waits end first. When its servers have closed, locks that are still held are taken back;
 * then the module's own connections are closed.
 */
@Module({ imports: [DiscoveryModule] })
export class DistributedLockModule
  extends ConfigurableModuleClass
  implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  /** Without options, locks live in memory and protect this one process only. */
  static override forRoot(
    options: DistributedLockModuleOptions & DistributedLockModuleExtras = {},
  ): DynamicModule {
    checkIsModuleOptions(options);
    return super.forRoot(options);
  }

  static override forRootAsync(options: AsyncModuleOptions): DynamicModule {
    checkAsyncOptions(options);
    return super.forRootAsync(options);
  }

  // Private to the language, not to the compiler alone: a printed module must not show the client and its password.
  readonly #name: string | undefined;
  /** A test may have put a mock in its place. */
  readonly #locks: LockService;
  readonly #connections: RedisConnections | undefined;
  readonly #discovery: DiscoveryService;
  #unlink: () => void = () => undefined;
  #forgetHooks: () => void = () => undefined;

  constructor(
    @Inject(MODULE_NAME) name: string | undefined,
    @Inject(MODULE_LOCKS) locks: LockService,
    @Inject(MODULE_CONNECTIONS) connections: RedisConnections | undefined,
    @Inject(DiscoveryService) discovery: DiscoveryService,
  ) {
    super();
    this.#name = name;
    this.#locks = locks;
    this.#connections = connections;
    this.#discovery = discovery;
  }

  async onModuleInit(): Promise<void> {
    try {
      checkSupport(this.#discovery, this.#name, this.#locks);
      this.#unlink = linkReadyMadeInstances(this.#discovery, this.#name, this.#locks);
    } catch (error) {
      await this.onApplicationShutdown(); // an application that does not start runs no shutdown hooks
      throw error;
    }
  }

  onApplicationBootstrap(): void {
    const outlivesProcess = !IN_THIS_PROCESS.includes(this.#locks.storeName);
    if (outlivesProcess) this.#forgetHooks = warnWithoutShutdownHooks(new Logger(MODULE));
  }

  /** Nest waits for open requests next. They may finish under their locks; those that wait for one would keep it for long. */
  beforeApplicationShutdown(): void {
    this.#forgetHooks();
    (this.#locks as Partial<LockService>).endWaits?.();
  }

  async onApplicationShutdown(): Promise<void> {
    await (this.#locks as Partial<LockService>).close?.();
    await this.#connections?.close();
    this.#unlink();
  }
}
