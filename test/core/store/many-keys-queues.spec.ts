import { systemClock } from '../../../lib/core/async/clock.js';
import { LocalQueues } from '../../../lib/core/queue/local-queues.js';
import { TimerQueue } from '../../../lib/core/async/timer-queue.js';
import { LocalTicket } from '../../../lib/core/queue/local-ticket.js';
import type { TicketLimits } from '../../../lib/core/queue/ticket-wait.js';

/** Far more than the callers below need to come to the front of two keys. */
const MOST_ARRIVALS = 1_000;
const LIMITS: TicketLimits = {
  timers: new TimerQueue(systemClock),
  waitDeadline: { deadline: Infinity, lookAt: Infinity },
  beforeDeadline: () => {},
  options: {},
  tooLate: () => new Error('too late'),
};

const ALONE = { ttl: 1_000, permits: undefined, autoExtend: true };

describe.each([
  ['alone', undefined],
  ['with two others', 3],
  ['as readers', Infinity],
])('those who want two keys %s, and stand in the lines of both', (_, permits) => {
  let arrivals: number;
  let queue: LocalQueues<LocalTicket>;

  /** Callers that go round in microtasks would stop the process, and so every timeout. */
  class CountedTurn extends LocalTicket {
    override arrive(...passed: Parameters<LocalTicket['arrive']>): boolean {
      if (++arrivals > MOST_ARRIVALS) throw new Error('they go round for ever');
      return super.arrive(...passed);
    }
  }

  beforeEach(() => {
    arrivals = 0;
    queue = new LocalQueues<LocalTicket>();
  });

  const hold = (key: string): LocalTicket => {
    const turn = new LocalTicket(queue, { keys: [key], ...ALONE });
    expect(turn.take()).toBe(true);
    return turn;
  };
  const comeAndGo = async (turn: LocalTicket): Promise<void> => {
    if (!turn.take()) await turn.wait(LIMITS);
    turn.leave();
  };
  const eight = () =>
    Array.from({ length: 8 }, () =>
      comeAndGo(new CountedTurn(queue, { keys: ['a', 'b'], ...ALONE, permits })),
    );

  it('come to the front of both, one after the other', async () => {
    const [a, b] = [hold('a'), hold('b')];
    const first = eight(); // in the line of a
    a.leave(); // now in that of b
    const again = hold('a');
    const second = eight(); // in the line of a
    again.leave();
    b.leave();
    await Promise.all([...first, ...second]);
    expect(queue.taken(['a', 'b'])).toBeUndefined();
  });

  it('let others go on, also when some of them give up', async () => {
    const [a, b] = [hold('a'), hold('b')];
    const leaving = new CountedTurn(queue, { keys: ['a', 'b'], ...ALONE, permits });
    const left = leaving.wait(LIMITS);
    const staying = eight();
    const single = comeAndGo(new LocalTicket(queue, { keys: ['a'], ...ALONE }));
    leaving.stop(new Error('enough'));
    await expect(left).rejects.toThrow('enough');
    a.leave();
    await single; // while all others stand in the line of b
    b.leave();
    await Promise.all(staying);
    expect(queue.taken(['a', 'b'])).toBeUndefined();
  });
});
