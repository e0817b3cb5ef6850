import { Controller, Injectable, Param, ParseIntPipe, Post } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedLock, DistributedLockModule } from 'nest-holdfast';
import supertest from 'supertest';
import { RedisServer } from '../../support/servers/redis-server.js';

/** The account that both applications change, without a transaction of its own. */
class Account {
  balance = 0;
  running = 0;
  mostRunning = 0;

  async add(amount: number) {
    this.mostRunning = Math.max(this.mostRunning, ++this.running);
    const { balance } = this;
    await new Promise((resolve) => setImmediate(resolve));
    this.balance = balance + amount;
    this.running--;
  }
}

@Injectable()
class Accounts {
  readonly accounts: Record<number, Account> = { 1: new Account(), 2: new Account() };

  @DistributedLock('account:<id>')
  async add(id: number, amount: number) {
    await this.accounts[id]!.add(amount);
  }
}

@Controller('accounts')
class AccountsController {
  constructor(private readonly accounts: Accounts) {}

  @Post(':id/:amount')
  async add(@Param('id', ParseIntPipe) id: number, @Param('amount', ParseIntPipe) amount: number) {
    await this.accounts.add(id, amount);
  }
}

it('requests to two applications work on one account one at a time', async () => {
  await using redis = await RedisServer.shared();
  const shared = new Accounts().accounts;
  const apps = await Promise.all(
    [1, 2].map(async () => {
      const testing = await Test.createTestingModule({
        imports: [DistributedLockModule.forRoot({ redis: redis.url })],
        controllers: [AccountsController],
        providers: [Accounts],
      }).compile();
      const app = testing.createNestApplication({ logger: false });
      Object.assign(app.get(Accounts), { accounts: shared });
      return app.listen(0, '127.0.0.1').then(() => app);
    }),
  );
  const requests = Array.from({ length: 40 }, (_, n) => {
    const server = apps[n % 2]!.getHttpServer() as never;
    return supertest(server)
      .post(`/accounts/${1 + (n % 4 > 1 ? 1 : 0)}/5`)
      .expect(201);
  });
  await Promise.all(requests);
  await Promise.all(apps.map((app) => app.close()));
  expect(Object.values(shared)).toEqual([
    expect.objectContaining({ balance: 100, mostRunning: 1 }),
    expect.objectContaining({ balance: 100, mostRunning: 1 }),
  ]);
});
