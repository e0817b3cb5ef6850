import { LockService, MemoryLockStore } from 'nest-holdfast/core';
import { lockDashboard, LockDashboardModule } from 'nest-holdfast/dashboard';

class Guard {
  canActivate() {
    return true;
  }
}

describe('the options of the live page', () => {
  const locks = new LockService(new MemoryLockStore());
  const authorize = () => true as const;
  const { NODE_ENV } = process.env;

  afterEach(() => void (process.env['NODE_ENV'] = NODE_ENV));
  afterAll(() => locks.close());

  it.each([
    ['locks', { authorize }, 'must be a LockService, got undefined'],
    ['locks', { locks: {}, authorize }, 'must be a LockService, got an object'],
    ['authorize', { locks }, "must be a function, or 'public', got undefined"],
    ['authorize', { locks, authorize: 'all' }, "must be a function, or 'public', got the string"],
    ['actions', { locks, authorize, actions: ['delete'] }, "must be a list of actions: [] or ['release']"], // prettier-ignore
    ['actions', { locks, authorize: 'public', actions: ['release'] }, 'must be []'],
    ['path', { locks, authorize, path: 7 }, 'must be a path without a query'],
  ])('lockDashboard names %s', (name, options, words) => {
    const code = 'LOCK_OPTION_INVALID';
    const make = () => lockDashboard(options as never);
    expect(make).toThrow(expect.objectContaining({ code }));
    expect(make).toThrow(`lockDashboard: ${name} ${words}`);
  });

  it.each([
    ['guards', {}, "must be a list of at least one guard, or 'public', got undefined"],
    ['guards', { guards: [] }, 'must be a list of at least one guard'],
    ['guards', { guards: ['AdminGuard'] }, 'must be a list of at least one guard'],
    ['actor', { guards: [Guard], actions: ['release'] }, 'must be a function where actions are allowed'], // prettier-ignore
    ['path', { guards: [Guard], path: 'a/*' }, 'must be a path'],
    ['imports', { guards: [Guard], imports: Guard }, 'must be a list'],
  ])('LockDashboardModule names %s', (name, options, words) => {
    const make = () => void LockDashboardModule.forRoot(options as never);
    expect(make).toThrow(expect.objectContaining({ code: 'LOCK_OPTION_INVALID' }));
    expect(make).toThrow(`LockDashboardModule: ${name} ${words}`);
  });

  it('an unknown option is an error', () => {
    expect(() => lockDashboard({ locks, authorize, guards: [] } as never)).toThrow('guards');
  });

  it("'public' throws in production", () => {
    process.env['NODE_ENV'] = 'production';
    const words = "must not be 'public' where NODE_ENV is production";
    expect(() => lockDashboard({ locks, authorize: 'public' })).toThrow(`authorize ${words}`);
    expect(() => void LockDashboardModule.forRoot({ guards: 'public' })).toThrow(`guards ${words}`);
  });
});
