jest.mock('@nestjs/common', () => {
  throw new Error('@nestjs/common is not installed');
});

it('lockDashboard works where Nest is not installed', async () => {
  const { lockDashboard, LockDashboardModule } = require('nest-holdfast/dashboard');
  const { LockService, MemoryLockStore } = require('nest-holdfast/core');
  const locks = new LockService(new MemoryLockStore());
  const page = lockDashboard({ locks, authorize: 'public' });
  page.close();
  await locks.close();
  await expect(LockDashboardModule.forRoot({ guards: 'public' })).rejects.toThrow('not installed');
});
