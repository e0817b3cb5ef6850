import { systemClock } from '../../../../../lib/core/async/clock.js';
import type { FreeMoments } from '../../../../../lib/stores/redis/queue/free-moments.js';
import { LocalHandoffs } from '../../../../../lib/stores/redis/queue/local-handoffs.js';
import { Shares } from '../../../../../lib/stores/redis/queue/shares.js';

type WakeUpChannel = ConstructorParameters<typeof LocalHandoffs>[0];

const NEVER = { open: () => new Promise<void>(() => {}) };

/** With a channel, live or not, and a limit of hand-offs while another process waits. */
function handoffsOf(
  channel: { isLive: boolean; open?: () => Promise<void> },
  limit: number,
  every = Infinity,
) {
  const freeMoments = { shares: new Shares(every) } as FreeMoments;
  const wakeUps = Object.assign(channel, { ...NEVER, ...channel });
  return new LocalHandoffs(wakeUps as unknown as WakeUpChannel, freeMoments, limit);
}

describe('a lock that is handed off before the channel is open', () => {
  it.each([
    ['hangs', NEVER.open],
    ['fails', () => Promise.reject(new Error('max number of clients reached'))],
  ])('waits for a connection that %s for a part of its ttl only', async (_, open) => {
    const handoffs = handoffsOf({ isLive: false, open }, 8);
    await handoffs.listen(100);
    expect(handoffs.mayHandOff(handoffs.begin('lock:a', 0))).toBe(true);
  });

  it('waits for no connection that is open', async () => {
    const open = jest.fn();
    await handoffsOf({ isLive: true, open }, 8).listen(1e9);
    expect(open).not.toHaveBeenCalled();
  });
});

describe('The locks that a process hands off', () => {
  const count = (handoffs: LocalHandoffs, handoff: ReturnType<LocalHandoffs['begin']>) => {
    let times = 0;
    while (times < 10 && handoffs.mayHandOff(handoff)) times++;
    return times;
  };

  it('are as many as it likes while no other process waits, and a few more then', () => {
    const handoffs = handoffsOf({ isLive: true }, 2);
    const [a, b] = [handoffs.begin('lock:a', 0), handoffs.begin('lock:b', 0)];
    expect(count(handoffs, a)).toBe(10);
    handoffs.contended('lock:a');
    handoffs.contended('lock:none');
    expect([count(handoffs, a), count(handoffs, b)]).toEqual([2, 10]);
  });

  it('are a few where messages may be missed, or may have been missed', () => {
    const channel = { isLive: false };
    const handoffs = handoffsOf(channel, 2);
    expect(count(handoffs, handoffs.begin('lock:a', 0))).toBe(2);
    channel.isLive = true;
    const doubted = handoffs.begin('lock:b', 0);
    doubted.confirm(5, false);
    handoffs.doubtAll();
    expect(doubted.takeToken(systemClock.now())).toBe(false);
    expect(count(handoffs, doubted)).toBe(2);
  });

  it('are none with a limit of 0', () => {
    expect(handoffsOf({ isLive: true }, 0).allowsHandoffs).toBe(false);
    expect(handoffsOf({ isLive: true }, 1).allowsHandoffs).toBe(true);
  });

  it('are not told of other processes once they have ended', () => {
    const handoffs = handoffsOf({ isLive: true }, 0);
    const handoff = handoffs.begin('lock:a', 0);
    expect(handoffs.end('lock:a', handoff)).toBe(false);
    handoffs.contended('lock:a');
    handoffs.doubtAll();
    expect(handoffs.mayHandOff(handoff)).toBe(true);
  });

  it('are left free for a moment when they are due', () => {
    const handoffs = handoffsOf({ isLive: true }, 2, 1_000);
    const now = systemClock.now();
    const [due, other] = [handoffs.begin('lock:a', now - 1_000), handoffs.begin('lock:b', now)];
    expect([due.freeAt, other.freeAt]).toEqual([now, now + 1_000]);
    expect([handoffs.end('lock:a', due), handoffs.end('lock:b', other)]).toEqual([true, false]);
  });

  it('are known of thousands at once', () => {
    const handoffs = handoffsOf({ isLive: true }, 0);
    const all = Array.from({ length: 3_000 }, (_, index) => handoffs.begin(`lock:${index}`, 0));
    for (const index of [0, 1_500, 2_999]) handoffs.contended(`lock:${index}`);
    expect([0, 1, 1_500, 2_999].map((index) => handoffs.mayHandOff(all[index]!))).toEqual([false, true, false, false]); // prettier-ignore
  });
});
