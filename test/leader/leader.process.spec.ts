import { LeaderElection } from 'nest-holdfast/core';
import type { LeaderCommand, LeaderMessage } from '../support/histories/workers/leader.worker.js';
import { RedisLocks } from '../stores/redis/locks.js';
import { ChildProcess } from '../support/processes/child-process.js';
import { inTime } from '../support/faults/in-time.js';
import { RedisServer } from '../support/servers/redis-server.js';
import { until } from '../support/until.js';

/** A machine that stands still for two seconds loses no term. */
const TTL = 6_000;
/** For a busy machine. */
const TOLERANCE = 6_000;

const PATIENT = { within: 4 * TTL };

type Machine = ChildProcess<LeaderCommand, LeaderMessage>;

describe('An election of three processes', () => {
  let server: RedisServer;
  let own: RedisLocks;
  let election: LeaderElection;
  let machines: Machine[];

  beforeAll(async () => {
    server = await RedisServer.start();
    own = new RedisLocks(server.url);
    election = new LeaderElection(own.locks, 'scheduler'); // it only looks on
    machines = [startMachine(), startMachine(), startMachine()];
    await Promise.all(machines.map((machine) => machine.next()));
  });

  afterAll(async () => {
    for (const machine of machines) machine.resume();
    await Promise.all(machines.map((machine) => machine.kill()));
    await own[Symbol.asyncDispose]();
    await server.stop();
  });

  function startMachine(): Machine {
    return new ChildProcess('test/support/histories/workers/leader.worker.ts', {
      args: [server.url, String(TTL)],
    });
  }

  /** The process whose id the store has, once it knows of its election. */
  async function leaderOtherThan(former?: Machine): Promise<Machine> {
    const found = async () => {
      const leader = await election.leader();
      const pid = Number(leader?.holder?.split(':').at(-2));
      const next = machines.find((machine) => machine !== former && machine.pid === pid);
      return next && isElected(next) ? next : undefined;
    };
    return until(found, PATIENT);
  }

  const isElected = (machine: Machine) => {
    const terms = events(machine).filter((event) => /^(elected|resigned|lost)$/.test(event));
    return terms.at(-1) === 'elected';
  };
  const events = ({ messages }: Machine) => messages.map(({ event }) => event);
  const tokens = ({ messages }: Machine) =>
    messages.flatMap((message) => (message.event === 'elected' ? [BigInt(message.token)] : []));
  const allTokens = () => machines.flatMap(tokens).toSorted((a, b) => (a < b ? -1 : 1));

  async function written(machine: Machine): Promise<string> {
    const before = outcomes(machine).length;
    machine.send('write');
    await until(() => outcomes(machine).length > before);
    return outcomes(machine).at(-1)!;
  }

  const outcomes = ({ messages }: Machine) =>
    messages.flatMap((message) => (message.event === 'written' ? [message.outcome] : []));

  it('has one leader', async () => {
    const leader = await leaderOtherThan();
    expect(allTokens()).toEqual(tokens(leader));
    expect(await written(leader)).toBe('written');
  });

  it('the next one leads a moment after a resignation', async () => {
    const former = await leaderOtherThan();
    former.send('resign');
    const leader = await inTime(TTL / 2, leaderOtherThan(former));
    expect(events(former)).toContain('resigned');
    expect(tokens(leader).at(-1)).toBeGreaterThan(tokens(former).at(-1)!);
  });

  it('a leader that was stopped is told when it goes on, and only its successor can write', async () => {
    const former = await leaderOtherThan();
    expect(await written(former)).toBe('written');
    former.pause();
    const pausedAt = performance.now();
    const leader = await leaderOtherThan(former);
    expect(await written(leader)).toBe('written');
    await until(() => performance.now() - pausedAt > TTL, PATIENT); // longer than the worker takes for a pause
    former.resume();
    expect(await former.received(({ event }) => event === 'resumed')).toEqual({
      event: 'resumed',
      isLeader: false,
      aborted: true,
      assertHeld: 'LOCK_LOST',
    });
    await former.received(({ event }) => event === 'lost');
    expect(await written(former)).toBe('LOCK_STALE');
    expect(await written(leader)).toBe('written');
    const journal = (await server.command('LRANGE', '{leader}:journal', 0, -1)) as string[];
    const sorted = journal.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
    expect(journal).toEqual(sorted.map(String)); // no leader wrote after a newer one
    expect(new Set(journal).size).toBe(3);
  });

  it('another one leads within the ttl after the leader was killed', async () => {
    const former = await leaderOtherThan();
    await former.kill();
    machines = machines.filter((machine) => machine !== former);
    const leader = await inTime(TTL + TOLERANCE, leaderOtherThan(former));
    expect(tokens(leader).at(-1)).toBeGreaterThan(tokens(former).at(-1)!);
  });

  it('while Redis is down the leader is warned, then loses; when it is back there is a new term', async () => {
    const former = await leaderOtherThan();
    const before = allTokens().at(-1)!;
    const seen = former.messages.length;
    await server.kill();
    await until(() => events(former).slice(seen).includes('lost'), PATIENT);
    expect(events(former)[seen]).toBe('jeopardy');
    await until(() => events(former).slice(seen).includes('failed'), PATIENT); // it stands again, in vain
    await server.restart();
    const leader = await until(
      () => machines.find((each) => tokens(each).at(-1)! > before),
      PATIENT,
    );
    expect(await leaderOtherThan()).toBe(leader);
  });
});
