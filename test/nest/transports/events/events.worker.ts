import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import {
  ClientProxyFactory,
  EventPattern,
  type MicroserviceOptions,
  Payload,
  type TcpClientOptions,
  Transport,
} from '@nestjs/microservices';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { DistributedLock, DistributedLockModule } from 'nest-holdfast';
import { LockControl, LockTestingModule } from 'nest-holdfast/testing';
import { lastValueFrom } from 'rxjs';
import { freePort } from '../../../support/processes/free-port.js';
import { until } from '../../../support/until.js';
import { openChannel } from '../../../support/processes/worker-channel.js';
import { NestLog } from './events-log.js';
import { TROUBLES } from '../support/troubles.js';

/** The lines that Nest logged while locks were refused and lost. */
export interface Report {
  readonly errors: readonly string[];
}

const AT_ONCE = { waitTimeout: 0 };
const LOGGERS = ['Event', 'Scheduler', 'RpcExceptionsHandler'];

@Controller()
class Unattended {
  @OnEvent('happened')
  @DistributedLock('listener:<event.id>', AT_ONCE)
  async listener(event: { id: number }) {
    void event;
  }

  @Interval(5)
  @DistributedLock('job', AT_ONCE)
  async job() {}

  @EventPattern('happened')
  @DistributedLock('message:<event.id>', AT_ONCE)
  async message(@Payload() event: { id: number }) {
    void event;
  }
}

const control = new LockControl();

@Module({
  imports: [
    DistributedLockModule.forRoot({}),
    LockTestingModule.forRoot(control),
    EventEmitterModule.forRoot(),
    ScheduleModule.forRoot(),
  ],
  controllers: [Unattended],
})
class App {}

async function run(): Promise<readonly string[]> {
  const logger = new NestLog();
  const options = { host: '127.0.0.1', port: await freePort() };
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(App, {
    logger,
    transport: Transport.TCP,
    options,
  });
  await app.listen();
  const client = ClientProxyFactory.create({
    transport: Transport.TCP,
    options,
  } as TcpClientOptions);
  const all: string[] = [];
  for (const trouble of TROUBLES) {
    for (const key of ['listener:7', 'job', 'message:7']) trouble.strike(control, key);
    app.get(EventEmitter2).emit('happened', { id: 7 });
    await lastValueFrom(client.emit('happened', { id: 7 }), { defaultValue: undefined });
    await Promise.all(LOGGERS.map((each) => logger.untilError(`'${each}'`)));
    control.reset();
    all.push(...logger.errors.splice(0));
  }
  await client.close();
  await app.close();
  await until(() => control.held().length === 0);
  return all;
}

const channel = openChannel<Report>();
void run().then((errors) => {
  channel.send({ errors });
  process.stdin.unref(); // it must not be what keeps the process
});
