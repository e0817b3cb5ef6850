import { Test } from '@nestjs/testing';
import { DistributedLockModule, LockService, type RedisSource } from 'nest-holdfast';

/** An application whose locks are on `redis`, started. */
export async function applicationOn(redis: RedisSource) {
  const imports = [DistributedLockModule.forRoot({ redis })];
  const testing = await Test.createTestingModule({ imports }).compile();
  const app = testing.createNestApplication({ logger: false });
  await app.init();
  return { app, locks: app.get(LockService) };
}
