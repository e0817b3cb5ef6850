import { Tenures } from '../../lib/stores/redis/tenures';

type WakeUps = ConstructorParameters<typeof Tenures>[0];

describe('a lock that is passed on while nobody can listen yet', () => {
  it.each([
    ['hangs', () => new Promise<void>(() => {})],
    ['fails', () => Promise.reject(new Error('max number of clients reached'))],
  ])('waits for a connection that %s for a part of its ttl only', async (_, open) => {
    const tenures = new Tenures({ isLive: false, open } as unknown as WakeUps, 8);
    await tenures.listen(100);
    expect(tenures.mayPass(tenures.begin('lock:a'))).toBe(true);
  });
});
