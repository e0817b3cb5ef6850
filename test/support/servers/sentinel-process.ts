import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../processes/free-port.js';
import { endingWithProcess } from '../end-with-process.js';
import { needed } from '../processes/server-process.js';
import programs from '../processes/server-programs.cjs';
import { until } from '../until.js';

/** Milliseconds. A sentinel asks each second: with less, it finds a master down that it has not asked yet. */
const DOWN_AFTER = 1_500;

/** A sentinel's fields of a server: `flags`, `num-slaves`, `ip`, `port`, … */
export type SentinelFields = Readonly<Record<string, string>>;

/** A real `redis-server --sentinel` of its own that watches one master. It rewrites its configuration, in a temporary folder. */
export class SentinelProcess {
  readonly #client: Redis;
  #process: ChildProcess | undefined;
  #directory: string | undefined;

  static async start(name: string, masterPort: number, quorum: number): Promise<SentinelProcess> {
    const sentinel = new SentinelProcess(name, await freePort());
    await sentinel.#spawn(masterPort, quorum);
    return sentinel;
  }

  private constructor(
    readonly name: string,
    readonly port: number,
  ) {
    this.#client = new Redis({ port, lazyConnect: true, retryStrategy: () => 50 });
    this.#client.on('error', () => {}); // a question that fails carries it
  }

  async masterPort(): Promise<number> {
    const address = await this.#client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', this.name);
    return Number((address as string[])[1]);
  }

  async master(): Promise<SentinelFields> {
    return fieldsOf(await this.#client.call('SENTINEL', 'MASTER', this.name));
  }

  async replicas(): Promise<SentinelFields[]> {
    return ((await this.#client.call('SENTINEL', 'REPLICAS', this.name)) as unknown[]).map(fieldsOf); // prettier-ignore
  }

  /** Lets the master change its role with a replica. */
  async failover(): Promise<void> {
    await this.#client.call('SENTINEL', 'FAILOVER', this.name);
  }

  async stop(): Promise<void> {
    if (this.#client.status !== 'end') this.#client.disconnect();
    const child = this.#process;
    if (child && child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    if (this.#directory) await rm(this.#directory, { recursive: true, force: true });
  }

  async #spawn(masterPort: number, quorum: number): Promise<void> {
    this.#directory = await mkdtemp(join(tmpdir(), 'holdfast-sentinel-'));
    const file = join(this.#directory, 'sentinel.conf');
    await writeFile(file, configuration(this.name, this.port, masterPort, quorum));
    let log = '';
    const server = { file: needed(programs.redis(), 'redis-server'), args: [file, '--sentinel'] };
    const command = endingWithProcess(server);
    const child = spawn(command.file, command.args, {
      cwd: this.#directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    child.stdout.on('data', (chunk) => (log += String(chunk)));
    child.stderr.on('data', (chunk) => (log += String(chunk)));
    await once(child, 'spawn');
    await until(() => child.exitCode !== null || log.includes('+monitor master'), {
      within: 30_000,
      what: 'the sentinel to be ready',
    });
    if (child.exitCode !== null) throw new Error(`redis-server --sentinel ended at once:\n${log}`);
  }
}

function configuration(name: string, port: number, masterPort: number, quorum: number): string {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel monitor ${name} 127.0.0.1 ${masterPort} ${quorum}`,
    `sentinel down-after-milliseconds ${name} ${DOWN_AFTER}`,
    `sentinel failover-timeout ${name} 2000`, // two of them have to pass between two failovers
    `sentinel parallel-syncs ${name} 2`,
    '',
  ].join('\n');
}

/** A list of names and values. */
function fieldsOf(reply: unknown): SentinelFields {
  const words = reply as string[];
  const pairs = words.flatMap((word, index) =>
    index % 2 === 0 ? [[word, words[index + 1]!]] : [],
  );
  return Object.fromEntries(pairs) as SentinelFields;
}
