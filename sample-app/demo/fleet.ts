import { join } from 'node:path';
import { ServerProcess } from './server-process.js';

export interface FleetOptions {
  readonly size: number;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const MAIN = join(__dirname, '..', 'main.js');

/** The sample app in several processes, each on a free loopback port. */
export class Fleet implements AsyncDisposable {
  private constructor(private readonly processes: readonly ServerProcess[]) {}

  /** All or none. */
  static async start({ size, env, signal }: FleetOptions): Promise<Fleet> {
    const options = {
      ready: /listens on (http:\S+)/,
      env: { ...process.env, ...env, HOST: '127.0.0.1', PORT: '0', NO_COLOR: '1' },
      signal,
    };
    const starts = Array.from({ length: size }, () =>
      ServerProcess.start(process.execPath, [MAIN], options),
    );
    const results = await Promise.allSettled(starts);
    const isRunning = (result: (typeof results)[number]) => result.status === 'fulfilled';
    const fleet = new Fleet(results.filter(isRunning).map(({ value }) => value));
    const failure = results.find((result) => result.status === 'rejected');
    if (!failure) return fleet;
    await fleet[Symbol.asyncDispose]();
    throw failure.reason;
  }

  get urls(): readonly string[] {
    return this.processes.map(({ match }) => match[1]!);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((each) => each[Symbol.asyncDispose]()));
  }
}
