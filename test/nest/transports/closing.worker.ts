import 'reflect-metadata';
import { Controller, Get, type INestApplication, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern, type TcpOptions, Transport } from '@nestjs/microservices';
import {
  CurrentLock,
  DistributedLock,
  DistributedLockModule,
  type Lock,
  type LockLostError,
  LockService,
} from 'nest-holdfast';
import { openChannel } from '../../support/processes/worker-channel.js';

/** The report of this process. */
export interface Report {
  readonly about: 'listening' | 'holding' | 'taken back';
  /** A URL, or whose lock it is. */
  readonly what: string;
  /** Of the loss. */
  readonly reason?: string;
}

const PATIENT = { waitTimeout: Infinity };
const { REDIS_URL = '', TCP_PORT } = process.env;
const channel = openChannel<Report, 'close'>();

/** Works until its lock is taken back. */
async function hold(what: string, lock: Lock): Promise<void> {
  channel.send({ about: 'holding', what });
  await new Promise((resolve) => lock.signal.addEventListener('abort', resolve));
  const { reason } = lock.signal.reason as LockLostError;
  channel.send({ about: 'taken back', what, reason });
}

@Controller()
class Handlers {
  @MessagePattern('hold')
  @DistributedLock(`message ${process.pid}`, PATIENT)
  async message(_message: unknown, @CurrentLock() lock?: Lock) {
    await hold('message', lock!);
  }

  @Get('wait')
  @DistributedLock(`elsewhere ${process.pid}`, PATIENT)
  async wait() {}
}

@Injectable()
class Background {
  constructor(private readonly locks: LockService) {}

  onApplicationBootstrap(): void {
    const key = `background ${process.pid}`;
    const work = this.locks.withLock(key, (lock) => hold('background', lock));
    work.catch(() => {}); // it was lost: `hold` has told
  }
}

@Module({
  imports: [DistributedLockModule.forRoot({ redis: REDIS_URL })],
  controllers: [Handlers],
  providers: [Background],
})
class App {}

async function start(): Promise<INestApplication> {
  const app = await NestFactory.create(App, { logger: false });
  const options = { host: '127.0.0.1', port: Number(TCP_PORT) };
  app.connectMicroservice<TcpOptions>({ transport: Transport.TCP, options });
  app.enableShutdownHooks();
  await app.startAllMicroservices();
  await app.listen(0, '127.0.0.1');
  return app;
}

void start().then(async (app) => {
  channel.send({ about: 'listening', what: await app.getUrl() });
  channel.onMessage(() => {
    process.stdin.unref(); // it must not be what keeps the process
    void app.close();
  });
});
