import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { join, parse } from 'node:path';
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { wallClock } from '../../core/async/clock.js';
import { CommandError } from '../output/command-error.js';
import { ExitCode } from '../output/exit-codes.js';
import { RUN_ID, killStrays } from './strays.js';
import type { SupervisorOrders, SupervisorReport } from './supervisor-orders.js';

/** The process that starts the command, and ends it in time where this one cannot: because it is stopped, or was killed. */
export class SupervisorProcess {
  /**
   * Resolves with the process group of the command. Rejects with `CommandError` where it cannot be started; nothing of it runs
   * then.
   */
  readonly started: Promise<number>;
  /** Resolves with the exit code of the command. Rejects with `CommandError` where that is unknown. */
  readonly exited: Promise<number>;
  /** It has sent a signal to the command. */
  hasActed = false;
  readonly #process: ChildProcess;
  readonly #orders: Duplex;
  #isStarted = false;

  constructor(program = besideOurs()) {
    const runId = randomUUID();
    const child = spawn(process.execPath, [program], {
      detached: true, // Ctrl-C is not for it
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: { ...process.env, [RUN_ID]: runId },
    });
    this.#process = child;
    this.#orders = child.stdio[3] as Duplex;
    const lines = createInterface({ input: this.#orders });
    for (const each of [lines, this.#orders]) each.on('error', () => {}); // `exit` tells
    const reports = (take: (report: SupervisorReport) => void) =>
      lines.on('line', (line) => take(JSON.parse(line) as SupervisorReport));
    const ended = new Promise<never>((_resolve, reject) => {
      child.once('error', (error) => reject(gone(error.message)));
      child.once('exit', () => reject(gone('it was ended')));
      reports(({ failure }) => failure && reject(cannotRun(failure)));
    });
    const started = new Promise<number>((resolve) =>
      reports(({ group }) => {
        if (group === undefined) return;
        this.#isStarted = true;
        resolve(group);
      }),
    );
    const exited = new Promise<number>((resolve) =>
      reports(({ exit }) => exit && resolve(exit.code ?? codeOf(exit.signal!))),
    );
    reports(({ sent }) => (this.hasActed ||= sent !== undefined));
    const unstarted = ended.catch(async (error: unknown) => {
      if (!this.#isStarted) await killStrays(runId); // it may have died between the start and its report
      throw error;
    });
    this.started = Promise.race([started, unstarted]);
    this.exited = Promise.race([exited, ended]);
    for (const each of [this.started, this.exited]) each.catch(() => {}); // a rejection before the first reader would end this process
  }

  start(
    command: readonly string[],
    env: Readonly<Record<string, string>>,
    killAfter: number,
  ): void {
    this.#send({ command, env, killAfter });
  }

  /** The command has to be dead in `ms`. */
  within(ms: number): void {
    const monotonic = process.hrtime.bigint() + BigInt(Math.round(ms * 1e6));
    this.#send({ deadline: { monotonic: String(monotonic), wall: wallClock() + ms } });
  }

  told(): void {
    this.#send({ told: true });
  }

  close(): void {
    this.#send({ done: true });
    this.#orders.end();
    this.#process.unref();
  }

  #send(orders: SupervisorOrders): void {
    if (this.#orders.writable) this.#orders.write(`${JSON.stringify(orders)}\n`);
  }
}

function besideOurs(): string {
  const { dir, ext } = parse(realpathSync(process.argv[1]!));
  return join(dir, `supervisor${ext}`);
}

/** As shells say it. */
export function codeOf(signal: NodeJS.Signals): number {
  return ExitCode.signalled + constants.signals[signal];
}

function gone(why: string): CommandError {
  return new CommandError(ExitCode.lost, `the process that supervises the command is gone: ${why}`);
}

function cannotRun({
  code,
  message,
}: {
  readonly code: string;
  readonly message: string;
}): CommandError {
  if (code !== 'ENOENT') {
    return new CommandError(ExitCode.cannotExecute, `the command cannot be run: ${message}`);
  }
  const advice = 'there is no such program, or folder. A line for the shell needs --shell';
  return new CommandError(ExitCode.notFound, `the command cannot be run: ${message}: ${advice}`);
}
