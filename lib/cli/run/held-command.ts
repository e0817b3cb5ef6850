import type { Lock } from '../../core/scope/lock.js';
import { ExitCode } from '../output/exit-codes.js';
import type { Output } from '../output/output.js';
import type { OpenedStore } from '../store/opened-store.js';
import { Ending } from './ending.js';
import { LockGuard } from './lock-guard.js';
import type { GuardTimes } from './lock-guard.js';
import { ProcessGroup } from './process-group.js';
import type { SignalRelay } from './signal-relay.js';
import type { SupervisorProcess } from './supervisor-process.js';

export interface HeldCommandContext {
  readonly lock: Lock;
  readonly opened: OpenedStore;
  readonly output: Output;
  readonly relay: SignalRelay;
  readonly supervisor: SupervisorProcess;
  readonly times: GuardTimes;
}

/** Runs a command to its end while the lock is held. Resolves with its exit code, or with 70 where the lock ended it. */
export async function runHeld(
  command: readonly string[],
  { lock, opened, output, relay, supervisor, times }: HeldCommandContext,
): Promise<number> {
  const ending = new Ending(supervisor, output, lock.key);
  const guard = new LockGuard(lock, ending, times); // names the first deadline
  opened.store.observe?.((notice) => guard.heard(notice));
  const early: NodeJS.Signals[] = [];
  relay.to = (signal) => void early.push(signal);
  try {
    // The supervisor acts later than this process, where this one cannot.
    supervisor.start(
      command,
      environmentOf(lock, opened),
      Math.max(0, times.killAfter - times.margin),
    );
    const group = (ending.group = new ProcessGroup(await supervisor.started));
    relay.to = (signal) => group.signal(signal);
    early.forEach(relay.to);
    const code = await endOf(group, supervisor, times.killAfter);
    if (supervisor.hasActed && !ending.hasBegun) output.note('the supervisor ended the command: this process was held up, and could not extend the lock'); // prettier-ignore
    return ending.hasBegun || supervisor.hasActed || !lock.isHeld ? ExitCode.lost : code;
  } finally {
    guard.close();
  }
}

/** Resolves with the exit code of the command when nothing that it has started is left. */
async function endOf(
  group: ProcessGroup,
  supervisor: SupervisorProcess,
  killAfter: number,
): Promise<number> {
  try {
    const code = await supervisor.exited;
    await group.endRest(killAfter);
    return code;
  } catch (error) {
    group.signal('SIGKILL'); // without a supervisor
    await group.endRest(0);
    throw error;
  }
}

function environmentOf(lock: Lock, { store }: OpenedStore): Record<string, string> {
  const isFenced = store.supports.fencing && lock.permits === undefined;
  return {
    HOLDFAST_KEY: lock.key,
    ...(isFenced && { HOLDFAST_FENCING_TOKEN: String(lock.fencingToken) }),
  };
}
