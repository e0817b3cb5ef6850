import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { endingWithProcess } from '../../support/end-with-process.js';
import { until } from '../../support/until.js';
import { builtCli } from './built-cli.js';

export interface HoldfastOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** `true`: the input of the program stays open until `closeInput`. */
  readonly keepsInput?: boolean;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run of the command line. */
export class Holdfast implements AsyncDisposable {
  stdout = '';
  stderr = '';
  readonly #process: ChildProcess;
  /** Resolves when the process has ended and all its output has been read. Never rejects. */
  readonly ended: Promise<Ended>;

  constructor(
    args: readonly string[],
    { env = {}, cwd, keepsInput = false }: HoldfastOptions = {},
  ) {
    const command = { file: process.execPath, args: [builtCli(), ...args] };
    const { file, args: all } = endingWithProcess(command);
    const child = spawn(file, all, { cwd, env: { ...ownEnvironment(), ...env }, stdio: 'pipe' });
    this.#process = child;
    child.stdout.on('data', (chunk) => (this.stdout += String(chunk)));
    child.stderr.on('data', (chunk) => (this.stderr += String(chunk)));
    child.stdin.on('error', () => {}); // it has ended without reading
    if (!keepsInput) child.stdin.end();
    this.ended = new Promise((resolve) =>
      child.once('close', (code, signal) =>
        resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }),
      ),
    );
  }

  get pid(): number {
    return this.#process.pid!;
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  write(text: string): void {
    this.#process.stdin!.write(text);
  }

  /** Reads no more of it, as `head` does. */
  leave(output: 'stdout' | 'stderr'): void {
    this.#process[output]!.destroy();
  }

  closeInput(): void {
    this.#process.stdin!.end();
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves when the output on stdout has `text`. */
  async says(text: string): Promise<void> {
    await until(() => this.stdout.includes(text) || !this.isRunning, {
      within: 60_000,
      what: text,
    });
    if (!this.stdout.includes(text)) throw new Error(`It ended without "${text}": ${this.stderr}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL');
    await this.ended;
  }
}

/** Runs the command line to its end. */
export function holdfast(args: readonly string[], options?: HoldfastOptions): Promise<Ended> {
  return new Holdfast(args, options).ended;
}

/** The objects of an output of `--json`. */
export function objectsOf(stdout: string): Record<string, unknown>[] {
  const lines = stdout.split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

function ownEnvironment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('HOLDFAST_'));
  return Object.fromEntries(others);
}
