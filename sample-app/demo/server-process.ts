import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface ServerProcessOptions {
  /** The line of its output that says that it serves. */
  readonly ready: RegExp;
  readonly env?: NodeJS.ProcessEnv;
  /** Gives up waiting for that line. */
  readonly signal: AbortSignal;
}

type Child = ChildProcessByStdio<null, Readable, null>;

/** Milliseconds to say goodbye. */
const GRACE = 2_000;

/** A server in a process of its own. It ends when this is disposed. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: Child;

  private constructor(
    child: Child,
    /** The match of `ready`. */
    readonly match: RegExpExecArray,
  ) {
    this.#child = child;
  }

  /** Resolves once it serves. Rejects when there is no such program, or when it ends before. */
  static async start(
    command: string,
    args: readonly string[],
    { ready, env = process.env, signal }: ServerProcessOptions,
  ): Promise<ServerProcess> {
    const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child, 'spawn');
    try {
      return new ServerProcess(child, await lineLike(ready, child, signal));
    } catch (error) {
      await end(child);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await end(this.#child);
  }
}

async function lineLike(
  pattern: RegExp,
  child: Child,
  signal: AbortSignal,
): Promise<RegExpExecArray> {
  try {
    for await (const line of createInterface({ input: child.stdout, signal })) {
      const match = pattern.exec(line);
      if (match) return match;
    }
  } finally {
    child.stdout.resume(); // the demo does not read the rest, and a full pipe would stop the process
  }
  signal.throwIfAborted();
  throw new Error(`${child.spawnfile} ended before it served`);
}

async function end(child: Child): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), GRACE);
  await exited;
  clearTimeout(impatience);
}
