import 'reflect-metadata';
import { ConsoleLogger, Controller, Get, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DistributedLock,
  DistributedLockModule,
  type DistributedLockModuleOptions,
  LockService,
  OnElected,
} from 'nest-holdfast';
import { print } from './printed.js';

const AT_ONCE = { waitTimeout: 0 };

@Injectable()
class Jobs {
  constructor(readonly locks: LockService) {}

  @OnElected('nightly', { pause: 100 })
  async run() {}

  @DistributedLock('service', AT_ONCE)
  async decorated() {}
}

@Controller()
class Handlers {
  constructor(
    readonly jobs: Jobs,
    readonly locks: LockService,
  ) {}

  @Get('own')
  @DistributedLock('own', AT_ONCE)
  async own() {}

  @Get('service')
  service() {
    return this.jobs.decorated();
  }

  @Get('plain')
  plain() {
    return this.locks.withLock('plain', AT_ONCE, () => {});
  }
}

/** Starts an application that logs to the console as Nest does by default, and asks for all of its handlers. */
export async function exerciseNest(
  name: string,
  options: DistributedLockModuleOptions,
): Promise<void> {
  try {
    const imports = [DistributedLockModule.forRoot({ storeTimeout: 8_000, ...options })];
    @Module({ imports, controllers: [Handlers], providers: [Jobs] })
    class App {}
    const logger = new ConsoleLogger({ json: name.endsWith('json'), colors: false });
    const app = await NestFactory.create(App, { logger, abortOnError: false });
    await app.listen(0, '127.0.0.1');
    for (const path of ['own', 'service', 'plain']) {
      const response = await fetch(`${await app.getUrl()}/${path}`);
      console.log(`[${name} Nest /${path}] ${response.status} ${await response.text()}`);
    }
    print(`${name} module`, app.get(DistributedLockModule));
    print(`${name} jobs`, app.get(Jobs));
    await app.close();
  } catch (error) {
    print(`${name} start`, error);
  }
}
