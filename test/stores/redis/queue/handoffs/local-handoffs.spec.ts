import type { FreeMoments } from '../../../../../lib/stores/redis/queue/free-moments';
import { Shares } from '../../../../../lib/stores/redis/queue/shares';
import { LocalHandoffs } from '../../../../../lib/stores/redis/queue/local-handoffs';

type WakeUpChannel = ConstructorParameters<typeof LocalHandoffs>[0];

describe('a lock that is handed off before the channel is open', () => {
  it.each([
    ['hangs', () => new Promise<void>(() => {})],
    ['fails', () => Promise.reject(new Error('max number of clients reached'))],
  ])('waits for a connection that %s for a part of its ttl only', async (_, open) => {
    const freeMoments = { shares: new Shares(Infinity) } as FreeMoments;
    const handoffs = new LocalHandoffs(
      { isLive: false, open } as unknown as WakeUpChannel,
      freeMoments,
      8,
    );
    await handoffs.listen(100);
    expect(handoffs.mayHandOff(handoffs.begin('lock:a', 0))).toBe(true);
  });
});
