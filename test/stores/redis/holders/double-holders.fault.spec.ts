import { setTimeout as pause } from 'node:timers/promises';
import { seeded } from '../../../support/histories/history-random.js';
import { RedisSentinel } from '../../../support/servers/redis-sentinel.js';
import { until } from '../../../support/until.js';
import { Contenders } from '../../../support/faults/contenders.js';

/** How many failovers. 50 of them take about six minutes. */
const FAILOVERS = Number(process.env['HOLDFAST_TEST_FAILOVERS'] ?? 5);
/** `HOLDFAST_TEST_SEED` repeats the moments of a run, though not its interleaving. */
const SEED = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 32);
/** Milliseconds for which the replicas hear of nothing, at most, until the master crashes. Sentinels do not mind yet. */
const LONGEST_LAG = 800;

jest.setTimeout(60_000 + FAILOVERS * 30_000);

describe('Failovers while a lock is held', () => {
  it('with replicas: 1 never make two holders, nor a smaller fencing token', async () => {
    const random = seeded(SEED);
    await using sentinel = await RedisSentinel.start();
    const acknowledged = new Contenders('acknowledged', sentinel.client, 1, random);
    const plain = new Contenders('plain', sentinel.client, 0, random);
    const all = [acknowledged, plain];
    const counts = { held: 0, heldPlain: 0, doubled: 0 };
    try {
      for (let failover = 0; failover < FAILOVERS; failover += 1) {
        const before = plain.findings.doubles;
        await failOver(sentinel, all, random, () => {
          counts.held += Number(acknowledged.isHeld);
          counts.heldPlain += Number(plain.isHeld);
        });
        counts.doubled += Number(plain.findings.doubles > before);
      }
    } finally {
      await Promise.all(all.map((contenders) => contenders.stop()));
      console.log(
        `${FAILOVERS} failovers, HOLDFAST_TEST_SEED=${SEED}\n` +
          `replicas: 1: ${figures(acknowledged)}, held at ${counts.held} crashes\n` +
          `replicas: 0: ${figures(plain)}, held at ${counts.heldPlain} crashes, ` +
          `with two holders in ${counts.doubled} failovers`,
      );
    }
    expect(acknowledged.findings).toEqual({ doubles: 0, stale: 0 });
  });
});

/**
 * At a random moment replicas fall behind, mostly, and the holder keeps the lock from then on, or others may get it. A
 * random while later the master crashes, and the others go on with another one.
 */
async function failOver(
  sentinel: RedisSentinel,
  all: readonly Contenders[],
  random: () => number,
  crashes: () => void,
): Promise<void> {
  await allGranted(all, 3);
  await pause(random() * 200);
  const crashed = sentinel.master;
  for (const contenders of all) contenders.keepsHolding = random() < 0.5;
  if (random() < 0.75) await sentinel.deafen();
  await pause(random() * LONGEST_LAG);
  for (const contenders of all) contenders.keepsHolding = true;
  crashes();
  await crashed.kill();
  sentinel.hear();
  await sentinel.promoted();
  for (const contenders of all) {
    const { attempts } = contenders;
    await until(() => contenders.haveSeen(attempts), { within: 30_000, what: 'all to be back' });
    contenders.keepsHolding = false;
  }
  await sentinel.rejoin(crashed);
}

async function allGranted(all: readonly Contenders[], times: number): Promise<void> {
  for (const contenders of all) {
    const enough = contenders.granted + times;
    await until(() => contenders.granted >= enough, { within: 30_000, what: 'grants' });
  }
}

function figures({ granted, findings }: Contenders): string {
  return (
    `${granted} grants, ${findings.doubles} while another lock of the key was valid, ` +
    `${findings.stale} with a fencing token not larger than all before`
  );
}
