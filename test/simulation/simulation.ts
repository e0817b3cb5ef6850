import type { LockService } from '../../lib/core/lock.service.js';
import { seeded } from '../support/histories/history-random.js';
import type { Bug } from './bug.js';
import { Caller } from './caller.js';
import { judge } from './judge.js';
import { Recorder } from './recorder.js';
import { ALL_FAULTS_END } from './schedule.js';
import type { Action, Fault, Schedule } from './schedule.js';
import { type Backend, openBackend } from './stores/backend.js';
import { serviceOn } from './stores/service-on.js';
import type { Machine } from './world/machine.js';
import { World, replaceMachine } from './world/world.js';

/** Milliseconds after which every call must have been answered. */
const HORIZON = 90_000;
/** Milliseconds after which a key that no call has any more is free: less than any ttl. */
const SOON = 1_300;
/** Milliseconds in which what is no longer needed goes. */
const AFTERWARDS = 5_000;

const UNHANDLED = 'unhandledRejection';

type Trace = ((line: string) => void) | undefined;

export interface Outcome {
  readonly violations: readonly string[];
}

interface Process {
  readonly machine: Machine;
  readonly service: Pick<LockService, 'withLock' | 'close'>;
  readonly recorder: Recorder;
}

/** Runs one schedule. The same schedule gives the same run. `trace` gets its lines. */
export async function simulate(
  schedule: Schedule,
  { bug = {}, trace }: { bug?: Bug | undefined; trace?: Trace } = {},
): Promise<Outcome> {
  const restore = replaceMachine();
  const simulation = new Simulation(schedule, bug, trace);
  const listeners = process.listeners(UNHANDLED);
  process.removeAllListeners(UNHANDLED);
  process.on(UNHANDLED, (error) => simulation.unhandled(error));
  try {
    return await simulation.run();
  } finally {
    process.removeAllListeners(UNHANDLED);
    for (const listener of listeners) process.on(UNHANDLED, listener);
    restore();
  }
}

class Simulation {
  readonly #schedule: Schedule;
  readonly #bug: Bug;
  readonly #world: World;
  readonly #backend: Backend;
  readonly #processes: readonly Process[];
  #started = 0;

  constructor(schedule: Schedule, bug: Bug, trace: Trace) {
    this.#schedule = schedule;
    this.#bug = bug;
    this.#world = new World(trace);
    const random = seeded(schedule.seed + 1);
    this.#backend = openBackend(schedule.backing, this.#world, random, bug);
    this.#processes = Array.from({ length: schedule.processes }, (_, index) =>
      this.#process(`process ${index}`),
    );
  }

  unhandled(error: unknown): void {
    this.#world.uncaught.push(String(error));
  }

  async run(): Promise<Outcome> {
    const { actions, faults } = this.#schedule;
    actions.forEach((action, index) => this.#world.at(action.at, () => this.#begin(action, index)));
    for (const fault of faults) this.#world.at(fault.at, () => this.#disturb(fault));
    await this.#world.run(HORIZON, () => this.#isOver);
    await this.#world.run(this.#world.now + SOON, () => false);
    const held = this.#processes.some(({ machine }) => machine.isPaused)
      ? []
      : this.#backend.held();
    await this.#world.run(Math.max(this.#world.now, ALL_FAULTS_END) + AFTERWARDS, () => false);
    for (const { machine, service } of this.#processes)
      await machine.take('message', () => void service.close());
    await this.#world.run(this.#world.now + AFTERWARDS, () => false);
    const recorders = this.#processes.map(({ recorder }) => recorder);
    const timers = this.#processes.reduce(
      (sum, { machine }) => sum + (machine.isDead ? 0 : machine.timers),
      0,
    );
    const left = { held, timers, attempts: this.#backend.attempts?.() ?? 0 };
    const uncaught = this.#world.uncaught.map((error) => `uncaught: ${error}`);
    return { violations: [...uncaught, ...judge(recorders, this.#schedule, left)] };
  }

  get #isOver(): boolean {
    if (this.#started < this.#schedule.actions.length) return false;
    return this.#processes.every(({ machine, recorder }) => machine.isDead || recorder.open.length === 0); // prettier-ignore
  }

  #process(name: string): Process {
    const machine = this.#backend.machineFor(name);
    const service = this.#world.as(machine, () => serviceOn(this.#backend, machine, this.#bug));
    return { machine, service, recorder: new Recorder(this.#world, name) };
  }

  async #begin(action: Action, index: number): Promise<void> {
    const { machine, service, recorder } = this.#processes[action.process]!;
    const caller = new Caller(recorder, machine, action, index);
    if (machine.isDead) this.#started++;
    await machine.take('message', () => {
      this.#started++;
      void caller.call(service, this.#bug.options);
    });
  }

  #disturb(fault: Fault): void {
    const { kind, process, ms } = fault;
    const { machine, recorder } = this.#processes[process]!;
    if (machine.isDead) return;
    this.#world.say(machine.name, `${kind} ${ms}`);
    if (kind === 'pause' || kind === 'suspend') machine.pause(ms, kind === 'suspend');
    else if (kind === 'wall clock') machine.setWallClock(ms);
    else if (kind === 'crash') {
      machine.crash();
      recorder.killedAt = this.#world.stamp();
      this.#backend.crashed?.(machine);
    } else this.#backend.disturb(machine, fault);
  }
}
