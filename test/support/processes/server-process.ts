import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit, endingWithProcess } from '../end-with-process.js';
import { freePort } from './free-port.js';
import { until } from '../until.js';

export interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  /** Removes what its process leaves outside its folder where it is killed. */
  readonly afterKill?: (pid: number) => void;
}

const ATTEMPTS = 3;
/** Milliseconds. A first start may have to wait for a busy machine. */
const START_WITHIN = 60_000;

/** The port is taken, or a server that was killed has not let go of its data yet. */
export class NotFreeError extends Error {}

/** A real server of its own on a loopback port, with its data in a temporary folder. */
export abstract class ServerProcess implements AsyncDisposable {
  /** For messages and for the folder: `redis`. */
  protected abstract readonly name: string;
  /** Ends the server in its orderly way. */
  protected readonly stopSignal: NodeJS.Signals = 'SIGTERM';
  #process: ChildProcess | undefined;
  #directory: string | undefined;
  #afterKill: ServerCommand['afterKill'];
  #log = '';
  #isShared = false;

  protected constructor(
    readonly port: number,
    /** Whether a server that was killed keeps its folder, until it is stopped for good. */
    protected readonly keepsData: boolean,
  ) {}

  /** `undefined` while the server is down. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The server's output since it was started last. */
  get log(): string {
    return this.#log;
  }

  /** From now on the server ends with this process, and neither keeps it alive nor stops before. */
  share(): void {
    this.#isShared = true;
    const child = this.#process!;
    child.unref();
    for (const stream of [child.stdout, child.stderr]) (stream as Socket).unref();
    atExit(
      () => this.#signal('SIGKILL', child),
      () => {
        this.discard(this.#directory!);
        rmSync(this.#directory!, { recursive: true, force: true, maxRetries: 5 });
      },
    );
  }

  /** Removes what a server that is shared was filled with. */
  clear(): Promise<void> {
    throw new Error(`${this.name} cannot be emptied`);
  }

  /** Ends the server in its orderly way, for good: its data is removed. Safe to call twice, and on a paused server. */
  async stop(): Promise<void> {
    if (this.#isShared) return;
    await this.#end(this.stopSignal);
    await this.#removeData();
  }

  /** Ends the server as a crash would. Its data stays, where the server has any, for `restart`. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
    if (!this.keepsData) await this.#removeData();
  }

  /** Kills the server and removes its data. Safe to call twice. */
  async remove(): Promise<void> {
    if (this.#isShared) return;
    await this.#end('SIGKILL');
    await this.#removeData();
  }

  /** The server keeps its connections and accepts new ones, and answers nothing. */
  pause(): void {
    this.#refuseToBreak();
    this.#signal('SIGSTOP');
  }

  resume(): void {
    this.#signal('SIGCONT');
  }

  /** Crashes the server if it still runs, and starts it on the same port. Resolves when it serves again. */
  async restart(): Promise<void> {
    await this.kill();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.launch();
      } catch (error) {
        if (!(error instanceof NotFreeError) || attempt === ATTEMPTS) throw error;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.remove();
  }

  /** Starts the program. Rejects with `NotFreeError` when it lost a race for its port. */
  async launch(): Promise<void> {
    await this.spawn();
    await this.whenReady();
  }

  /** Starts the program, and does not wait for it: a member of an ensemble is not ready before the others. */
  async spawn(): Promise<void> {
    const isNew = this.#directory === undefined;
    this.#directory ??= await mkdtemp(join(tmpdir(), `holdfast-${this.name}-`));
    if (isNew) await this.prepare(this.#directory);
    const { file, args, options, afterKill } = endingWithProcess(this.commandLine(this.#directory));
    this.#afterKill = afterKill;
    const stdio: SpawnOptions['stdio'] = ['ignore', 'pipe', 'pipe'];
    const child = spawn(file, args, { cwd: this.#directory, ...options, stdio });
    this.#process = child;
    this.#log = '';
    child.stdout!.on('data', (chunk) => (this.#log += String(chunk)));
    child.stderr!.on('data', (chunk) => (this.#log += String(chunk)));
    await once(child, 'spawn');
  }

  async whenReady(): Promise<void> {
    const child = this.#process!;
    const what = `${this.name} to be ready`;
    await until(() => hasExited(child) || this.isReady(), { within: START_WITHIN, what });
    if (!hasExited(child)) return;
    const message = `${this.name} ended at once:\n${this.#log}`;
    throw /already in use|still in use/i.test(this.#log)
      ? new NotFreeError(message)
      : new Error(message);
  }

  /** Fills a new folder. */
  protected prepare(_directory: string): Promise<void> | void {}

  /** Removes what a server that was killed left outside its folder. */
  protected discard(_directory: string): void {}

  protected abstract commandLine(directory: string): ServerCommand;

  /** One look. A rejection means not yet. */
  protected abstract isReady(): boolean | Promise<boolean>;

  /** All processes of the server, its first one first. */
  protected processesOf(pid: number): readonly number[] {
    return [pid];
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#refuseToBreak();
    const child = this.#process;
    this.#process = undefined;
    if (!child || hasExited(child)) return;
    const exited = once(child, 'exit');
    if (signal === 'SIGKILL') this.#signal('SIGKILL', child);
    else {
      child.kill(signal);
      this.#signal('SIGCONT', child); // a paused process would never see it
    }
    await exited;
    this.#afterKill?.(child.pid!);
  }

  #refuseToBreak(): void {
    if (this.#isShared)
      throw new Error(`${this.name} is shared with other specs: start one to break it`);
  }

  async #removeData(): Promise<void> {
    const directory = this.#directory;
    this.#directory = undefined;
    if (directory === undefined) return;
    this.discard(directory);
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }

  #signal(signal: NodeJS.Signals, child = this.#process): void {
    if (child?.pid === undefined || hasExited(child)) return;
    for (const pid of this.processesOf(child.pid)) {
      try {
        process.kill(pid, signal);
      } catch {
        // it has ended by itself meanwhile
      }
    }
  }
}

/** Starts a server on a free port, and on another one when another process takes that first. */
export async function startOnFreePort<Server extends ServerProcess>(
  create: (port: number) => Server,
  choosePort: () => Promise<number> = freePort,
): Promise<Server> {
  for (let attempt = 1; ; attempt += 1) {
    const server = create(await choosePort());
    try {
      await server.launch();
      return server;
    } catch (error) {
      await server.remove();
      if (!(error instanceof NotFreeError) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** The program, or an error that says how to get it. */
export function needed(program: string | undefined, what: string): string {
  if (program === undefined) throw new Error(`${what} is not installed: npm test says how`);
  return program;
}

function hasExited(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
