import { type ChildProcess as NodeProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type UntilOptions, until } from '../until.js';

const REGISTER = join(__dirname, '..', 'jest', 'register-typescript.cjs');

export interface SpawnOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Options of Node itself, such as `['--unhandled-rejections=strict']`. */
  readonly nodeArgs?: readonly string[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * A Node process that runs a TypeScript file and talks in lines of JSON; its end of the talk is `worker-channel.ts`.
 * A worker that uses the channel ends when this process does.
 */
export class ChildProcess<Sent = unknown, Received = unknown> implements AsyncDisposable {
  /** Every message so far, in order. */
  readonly messages: Received[] = [];
  /** The other output of the process, on stdout and stderr. */
  output = '';
  /** Resolves when the process has ended and all that it wrote has been read. Never rejects. */
  readonly exited: Promise<Exit>;
  readonly #process: NodeProcess;
  #taken = 0;

  /** `file` is a path from the root of the repository, or an absolute one. */
  constructor(file: string, { args = [], env = {}, nodeArgs = [] }: SpawnOptions = {}) {
    const child = spawn(process.execPath, [...nodeArgs, '--require', REGISTER, file, ...args], {
      cwd: join(__dirname, '..', '..', '..'),
      env: { ...process.env, ...env },
      stdio: 'pipe',
    });
    this.#process = child;
    this.exited = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal }));
      child.once('error', (error) => (this.output += String(error)));
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.#read(line));
    child.stderr.on('data', (chunk) => (this.output += String(chunk)));
    child.stdin.on('error', () => {}); // the process has ended, and `exited` says so
  }

  get pid(): number {
    return this.#process.pid!;
  }

  send(message: Sent): void {
    this.#process.stdin!.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves with the first message that was not taken yet. */
  async next(options: UntilOptions = {}): Promise<Received> {
    await this.#until(() => this.messages.length > this.#taken, 'the next message', options);
    this.#taken += 1;
    return this.messages[this.#taken - 1]!;
  }

  /** Resolves with the first message of all, taken or not, that `isIt` accepts. */
  async received(
    isIt: (message: Received) => boolean,
    options: UntilOptions = {},
  ): Promise<Received> {
    await this.#until(() => this.messages.some(isIt), isIt.toString(), options);
    return this.messages.find(isIt)!;
  }

  /** The process stops where it is, as in a long garbage collection, until `resume`. */
  pause(): void {
    this.#process.kill('SIGSTOP');
  }

  resume(): void {
    this.#process.kill('SIGCONT');
  }

  /** Crashes the process, unless another signal is given. Safe to call twice. */
  kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<Exit> {
    this.#process.kill(signal);
    return this.exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #read(line: string): void {
    try {
      this.messages.push(JSON.parse(line) as Received);
    } catch {
      this.output += `${line}\n`; // something printed for people
    }
  }

  async #until(isDone: () => boolean, what: string, options: UntilOptions): Promise<void> {
    const hasEnded = (): boolean =>
      this.#process.exitCode !== null || this.#process.signalCode !== null;
    await until(() => isDone() || hasEnded(), { within: 60_000, what, ...options });
    if (!isDone()) await this.exited; // its last lines may still be on their way
    if (!isDone()) throw new Error(`The process ended before ${what}:\n${this.output}`);
  }
}
