import { FakeClock } from 'nest-holdfast/testing';
import { RedlockNode } from '../../../../lib/stores/redlock/node/redlock-node';
import type { Quarantine } from '../../../../lib/stores/redlock/node/redlock-options';
import { QuarantineMonitor } from '../../../../lib/stores/redlock/vote/quarantine-monitor';
import { watch } from '../../../core/support/outcome';
import { StubLink } from '../support/stub-link';
import { StubNode } from '../support/stub-node';
import { settled } from '../support/stub-quorum';

const LARGEST = 10_000;
const LOOK = 1_000;
const OLD = 60_000;

interface Servers {
  readonly upFor?: readonly (number | undefined)[];
  readonly mode?: Quarantine;
  readonly away?: readonly number[];
}

/** Nodes with servers that have been up for so long, or without a server, and those that are away at first. */
function own({ upFor = [OLD, OLD, OLD], mode = 'unless-all-fresh', away = [] }: Servers = {}) {
  const clock = new FakeClock(100_000);
  const links = upFor.map((ms, index) =>
    ms === undefined ? undefined : new StubLink(`${index}`, clock, ms),
  );
  for (const index of away) {
    links[index]!.disconnect();
    links[index]!.hold();
  }
  const connect = async (index: number) => {
    links[index]!.pass();
    links[index]!.connect();
    await settled();
  };
  const told: string[] = [];
  const nodes = links.map(
    (link, index) =>
      new RedlockNode(`n${index}`, new StubNode(clock, link), clock, ({ node, state, reason }) => {
        told.push(`${node} ${state}: ${reason}`);
      }),
  );
  const rules = { clock, mode, largestTtl: LARGEST };
  const schedule = jest.spyOn(clock, 'schedule');
  const monitor = new QuarantineMonitor(nodes, rules);
  const barred = () => nodes.flatMap(({ name, barred: bar }) => (bar === undefined ? [] : name));
  const readings = () => links.map((link) => link?.readings);
  return { clock, links, connect, nodes, told, rules, schedule, monitor, barred, readings };
}

describe('The first callers of a Redlock', () => {
  it('wait for no server where no node has one', async () => {
    const { monitor, clock } = own({ upFor: [undefined, undefined] });
    expect(monitor.isOpen).toBe(true);
    expect(await monitor.whenOpen(async () => 'asked')).toBe('asked');
    monitor.used(5_000);
    monitor.waiting();
    expect(clock.pendingTimers).toBe(0);
  });

  it('wait until a majority may vote', async () => {
    const { monitor, connect } = own({ away: [0, 1] });
    const asked = watch(monitor.whenOpen(async () => 'asked'));
    await settled();
    expect([monitor.isOpen, asked.status]).toEqual([false, 'pending']);
    await connect(0);
    expect([monitor.isOpen, asked.value]).toEqual([true, 'asked']);
  });

  it('wait for the servers of those nodes only that have one', async () => {
    const { monitor } = own({ upFor: [undefined, OLD, OLD], away: [2] });
    const asked = watch(monitor.whenOpen(async () => 'asked'));
    await settled();
    expect(asked.value).toBe('asked');
  });

  it('wait until all are known, where no majority may vote', async () => {
    const { monitor, connect } = own({ upFor: [OLD, 0, 0], mode: true, away: [2] });
    const asked = watch(monitor.whenOpen(async () => 'asked'));
    await settled();
    expect(asked.status).toBe('pending');
    await connect(2);
    expect(asked.value).toBe('asked');
  });

  it('wait for a second at most, all together', async () => {
    const { monitor, clock, schedule } = own({ away: [0, 1] });
    const asked = [1, 2].map((call) => watch(monitor.whenOpen(async () => call)));
    await clock.advance(999);
    expect(asked.map(({ status }) => status)).toEqual(['pending', 'pending']);
    expect(schedule).toHaveBeenCalledTimes(1);
    await clock.advance(1);
    expect(asked.map(({ value }) => value)).toEqual([1, 2]);
    expect(monitor.isOpen).toBe(true);
  });

  it('wait no longer when it is closed', async () => {
    const { monitor, clock } = own({ away: [0, 1] });
    const asked = watch(monitor.whenOpen(async () => 'asked'));
    monitor.close();
    await settled();
    expect(asked.value).toBe('asked');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('The servers of a Redlock', () => {
  it('are read at every new connection', async () => {
    const { links, readings } = own();
    await settled();
    const before = readings();
    links[1]!.disconnect();
    links[1]!.connect();
    await settled();
    expect(readings()).toEqual([before[0], before[1]! + 1, before[2]]);
  });

  it('are told of once all are known, and have no vote meanwhile', async () => {
    const { connect, told, barred } = own({ upFor: [OLD, 0, OLD], away: [2] });
    await settled();
    expect([told, barred()]).toEqual([[], ['n1', 'n2']]);
    await connect(2);
    expect(told).toEqual(['n1 quarantined: its server has just started']);
  });

  it.each([
    ['have their votes where all have just started', 'unless-all-fresh', []],
    ['have none where quarantine is strict', true, ['n0', 'n1', 'n2']],
  ] as const)('%s', async (_, mode, expected) => {
    const { barred } = own({ upFor: [0, 2_000, 1_000], mode });
    await settled();
    expect(barred()).toEqual(expected);
  });

  it('have none where they started more than two seconds apart', async () => {
    const { barred } = own({ upFor: [0, 2_001, 1_000] });
    await settled();
    expect(barred()).toEqual(['n0', 'n1', 'n2']);
  });

  it('send the waiters of a node elsewhere when its connection is lost', async () => {
    const { nodes, links } = own();
    const moved = jest.fn();
    nodes[1]!.whenUnfit(moved);
    links[1]!.disconnect();
    expect(moved).toHaveBeenCalledTimes(1);
  });

  it('count from the largest ttl that is used', () => {
    const { monitor, rules } = own();
    monitor.used(LARGEST - 1);
    expect(rules.largestTtl).toBe(LARGEST);
    monitor.used(LARGEST + 1);
    expect(rules.largestTtl).toBe(LARGEST + 1);
  });
});

describe('While a Redlock is in use, its servers', () => {
  /** So many readings of each server in this time. */
  const during = async ({ clock, readings }: ReturnType<typeof own>, ms: number) => {
    const before = readings();
    await clock.advance(ms);
    await settled();
    return readings().map((count, index) => count! - before[index]!);
  };

  it('are read every second, by a timer that keeps no process alive', async () => {
    const setup = own();
    await settled();
    setup.monitor.used(5_000);
    expect(setup.schedule.mock.calls).toEqual([[LOOK, expect.any(Function), true]]);
    expect(await during(setup, LOOK - 1)).toEqual([0, 0, 0]);
    setup.monitor.used(5_000);
    expect(await during(setup, 1)).toEqual([1, 1, 1]);
    expect(await during(setup, LOOK)).toEqual([1, 1, 1]);
  });

  it('are read no more when it was not used for a second', async () => {
    const setup = own();
    await settled();
    setup.monitor.used(5_000);
    expect(await during(setup, 10 * LOOK)).toEqual([2, 2, 2]);
    expect(setup.clock.pendingTimers).toBe(0);
  });

  it('are read as long as a caller waits', async () => {
    const setup = own();
    await settled();
    const stops = [setup.monitor.waiting(), setup.monitor.waiting()];
    expect(await during(setup, 5 * LOOK)).toEqual([5, 5, 5]);
    stops[0]!();
    expect(await during(setup, 5 * LOOK)).toEqual([5, 5, 5]);
    stops[1]!();
    await during(setup, LOOK);
    expect(await during(setup, 5 * LOOK)).toEqual([0, 0, 0]);
    expect(setup.clock.pendingTimers).toBe(0);
  });

  it('are read once after a caller that waited for a moment', async () => {
    const setup = own();
    await settled();
    setup.monitor.waiting()();
    expect(await during(setup, 5 * LOOK)).toEqual([1, 1, 1]);
  });

  it('are not read while they are away', async () => {
    const setup = own();
    await settled();
    setup.links[1]!.disconnect();
    setup.monitor.waiting();
    expect(await during(setup, 3 * LOOK)).toEqual([3, 0, 3]);
    expect(setup.nodes[1]!.isSuspended).toBe(false);
  });

  it('are suspended when they have not answered for a second', async () => {
    const setup = own();
    await settled();
    setup.links[1]!.hold();
    setup.monitor.waiting();
    await during(setup, 2 * LOOK - 1);
    expect(setup.told).toEqual([]);
    expect(await during(setup, 1)).toEqual([1, 0, 1]);
    expect(setup.told).toEqual(['n1 suspended: it has not answered for 1000 ms']);
    expect(setup.nodes.map(({ isSuspended }) => isSuspended)).toEqual([false, true, false]);
  });

  it('are read no more after it is closed', async () => {
    const setup = own();
    await settled();
    setup.monitor.used(5_000);
    setup.monitor.close();
    expect(setup.clock.pendingTimers).toBe(0);
    expect(await during(setup, 3 * LOOK)).toEqual([0, 0, 0]);
  });
});
