// The supervisor of `holdfast run`, a process of its own: the parent of the command. It ends the command when the deadline has come
// that `holdfast run` named last, which lies shortly before the key can expire, and when `holdfast run` has ended without it. So the
// command is never without a process that can end it. It reads the clocks itself, to load nothing: it is to start quickly.
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { SupervisorOrders, SupervisorReport } from './run/supervisor-orders.js';

/** Milliseconds between two looks at the clocks: a timer stands still while the machine is suspended. */
const LOOK_EVERY = 100;
const ORDERS = 3;

const orders = new Socket({ fd: ORDERS });
let known: SupervisorOrders = {};
let group: number | undefined;
/** By `performance.now()`, once `holdfast run` is dead. */
let orphanedUntil = Infinity;
let timer: NodeJS.Timeout | undefined;

const lines = createInterface({ input: orders });
lines.on('line', (line) => {
  known = { ...known, ...(JSON.parse(line) as SupervisorOrders) };
  if (known.done) process.exit();
  if (known.command && group === undefined) start(known.command);
  look();
});
// Of a connection whose other end was killed: `close` follows.
for (const each of [lines, orders]) each.on('error', () => {});
orders.once('close', () => {
  if (group === undefined) process.exit();
  orphanedUntil = performance.now() + (known.killAfter ?? 0);
  tell();
  look();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {}); // `holdfast run` passes them on

process.on('uncaughtException', () => {
  send('SIGKILL'); // rather dead than without a supervisor
  process.exit(1);
});

function start([file = '', ...args]: readonly string[]): void {
  const env = { ...process.env, ...known.env };
  const child = spawn(file, args, { detached: true, stdio: 'inherit', env });
  group = child.pid;
  child.once('error', ({ message, code = '' }: NodeJS.ErrnoException) =>
    report({ failure: { code, message } }),
  );
  child.once('exit', (code, signal) => report({ exit: { code, signal } }));
  if (group !== undefined) report({ group });
}

function look(): void {
  clearTimeout(timer);
  const left = Math.min(untilDeadline(), orphanedUntil - performance.now());
  if (left <= 0) send('SIGKILL');
  else if (left <= (known.killAfter ?? 0)) tell();
  if (orphanedUntil < Infinity && !isThere()) process.exit();
  timer = setTimeout(look, Math.max(1, Math.min(left, LOOK_EVERY)));
}

/** Milliseconds, by the clock that says less. */
function untilDeadline(): number {
  const { deadline } = known;
  if (!deadline) return Infinity;
  const monotonic = Number(BigInt(deadline.monotonic) - process.hrtime.bigint()) / 1e6;
  return Math.min(monotonic, deadline.wall - Date.now());
}

function tell(): void {
  if (known.told) return;
  known = { ...known, told: true };
  send('SIGTERM');
}

function send(signal: 'SIGTERM' | 'SIGKILL'): void {
  if (signalGroup(signal)) report({ sent: signal });
}

function isThere(): boolean {
  return signalGroup(0);
}

/** `false` where all of the group have ended. */
function signalGroup(signal: NodeJS.Signals | 0): boolean {
  try {
    return group !== undefined && process.kill(-group, signal);
  } catch {
    return false;
  }
}

function report(what: SupervisorReport): void {
  if (orders.writable) orders.write(`${JSON.stringify(what)}\n`);
}
