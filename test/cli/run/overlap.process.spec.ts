import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RedisServer } from '../../support/servers/redis-server.js';
import { Holdfast } from '../support/holdfast.js';
import { overlapsOf } from '../support/overlaps.js';

jest.setTimeout(1_200_000);

const RUNS = Number(process.env['HOLDFAST_TEST_RUNS'] ?? 200);
/** Runs that ask for the key at the same time. */
const AT_ONCE = 4;
const WORK = join(__dirname, '..', 'support', 'beat.cjs');
const FLAGS = ['--wait', 'forever', '--ttl', '2s', '--kill-after', '500ms'];

const seed = Number(process.env['HOLDFAST_TEST_SEED'] ?? Date.now() % 2 ** 31);
const random = randomFrom(seed);

/**
 * Commands write what they do to one file, while their server, `holdfast run` and the commands themselves are stopped and killed at
 * random. The server keeps its data when it is killed: one that forgets its locks frees them, whatever the holder does.
 */
describe(`the commands of holdfast run, with random faults (seed ${seed})`, () => {
  let folder: string;
  let server: RedisServer;
  let beats: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-overlap-'));
    beats = join(folder, 'beats');
    const keep = ['--appendonly', 'yes', '--appendfsync', 'always', '--dir', folder];
    server = await RedisServer.start({ args: keep });
  });
  afterAll(async () => {
    server.resume();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it(`never run at the same time, in ${RUNS} runs`, async () => {
    let left = RUNS;
    const tally = { runs: 0, faults: 0 };
    const faults = endlessFaults(tally);
    const contender = async () => {
      while (left-- > 0) await oneRun(tally);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, contender));
    await faults.stop();

    const { commands, overlaps } = overlapsOf(await readFile(beats, 'utf8'));
    expect(overlaps).toEqual([]);
    expect(tally.runs).toBe(RUNS);
    expect(tally.faults).toBeGreaterThan(RUNS / 4);
    expect(commands).toBeGreaterThan(RUNS / 4);
  });

  async function oneRun(tally: { runs: number; faults: number }): Promise<void> {
    const env = { HOLDFAST_STORE: server.url, BEATS: beats, STUBBORN: random() < 0.5 ? '1' : '' };
    const work = [process.execPath, WORK, String(Math.ceil(random() * 700))];
    await using run = new Holdfast(['run', 'k', ...FLAGS, '--', ...work], { env });
    tally.runs += 1;
    const fault = pick(['none', 'none', 'SIGKILL', 'SIGSTOP', 'SIGTERM'] as const);
    const ended = run.ended.then(() => true);
    if (fault === 'none') return void (await ended);
    await run.says('begun').catch(() => {});
    if (!run.isRunning) return;
    await Promise.race([ended, pause(random() * 800)]);
    run.kill(fault);
    tally.faults += 1;
    // One that is stopped stays so for longer than its lock lasts, or not.
    if (fault === 'SIGSTOP') await Promise.race([ended, pause(random() * 6_000)]);
    if (fault === 'SIGSTOP' && random() < 0.5) run.kill('SIGCONT');
    if (fault === 'SIGSTOP' && !(await Promise.race([ended, pause(6_000)]))) run.kill('SIGKILL');
    await ended;
  }

  /** Stops or kills the server now and then. */
  function endlessFaults(tally: { faults: number }): { stop(): Promise<void> } {
    const over = new AbortController();
    const faults = (async () => {
      for (;;) {
        await pause(2_000 + random() * 6_000);
        if (over.signal.aborted) return;
        tally.faults += 1;
        if (random() < 0.6) {
          server.pause();
          await pause(random() * 5_000);
          server.resume();
        } else await server.restart();
      }
    })();
    return {
      stop() {
        over.abort();
        return faults;
      },
    };
  }
});

function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(random() * choices.length)]!;
}

/** The length of a fault: nothing is awaited by it. */
function pause(ms: number): Promise<false> {
  return new Promise((resolve) => setTimeout(() => resolve(false), ms));
}

/** Park and Miller's: the same numbers for the same seed. */
function randomFrom(start: number): () => number {
  let state = (start % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
