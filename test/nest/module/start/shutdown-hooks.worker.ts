import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedLockModule } from 'nest-holdfast';

const { REDIS_URL = '', HOOKS } = process.env;

@Module({
  imports: [DistributedLockModule.forRoot(REDIS_URL === '' ? {} : { redis: REDIS_URL })],
})
class AppModule {}

/** As `main.ts` of a new application has it, with and without the line that people forget. */
async function bootstrap() {
  const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
  if (HOOKS === 'before') app.enableShutdownHooks();
  await app.listen(0, '127.0.0.1');
  if (HOOKS === 'after') app.enableShutdownHooks();
  setTimeout(() => void app.close().then(() => process.exit(0)), 3_000);
}

void bootstrap();
