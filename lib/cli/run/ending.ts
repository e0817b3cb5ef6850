import { quoted } from '../../core/text/printable.js';
import type { Output } from '../output/output.js';
import type { Guarded } from './lock-guard.js';
import type { ProcessGroup } from './process-group.js';
import type { SupervisorProcess } from './supervisor-process.js';

/** The end of a command by its lock. */
export class Ending implements Guarded {
  /** Missing until the command has started. Until then, and where we cannot, the supervisor keeps the deadline. */
  group: ProcessGroup | undefined;
  hasBegun = false;
  #isKilled = false;
  readonly #supervisor: SupervisorProcess;
  readonly #note: (text: string) => void;

  constructor(supervisor: SupervisorProcess, output: Output, key: string) {
    this.#supervisor = supervisor;
    this.#note = (text) => output.note(`the lock ${quoted(key)} ${text}`);
  }

  tell(): void {
    this.hasBegun = true;
    if (!this.group) return;
    this.#supervisor.told();
    this.group.signal('SIGTERM');
    this.#note('is about to be lost: the command was told to end (SIGTERM)');
  }

  kill(): void {
    this.hasBegun = true;
    this.group?.signal('SIGKILL');
    if (this.#isKilled) return;
    this.#isKilled = true;
    this.#note('is lost: the command was killed');
  }

  within(ms: number): void {
    this.#supervisor.within(ms);
  }
}
