/** Those that a terminal, a supervisor or a user sends, and that a process may catch. */
const RELAYED = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGWINCH',
] as const;

/** Passes the signals of this process on, in place of their effect on it. */
export class SignalRelay {
  /** Where they go. */
  to: (signal: NodeJS.Signals) => void = () => {};
  readonly #stop: () => void;

  /** `suspended` is called instead of a stop by Ctrl-Z: a process that is stopped cannot extend its lock. */
  constructor(suspended: () => void) {
    const listener = (signal: NodeJS.Signals) => this.to(signal);
    for (const signal of RELAYED) process.on(signal, listener);
    process.on('SIGTSTP', suspended);
    this.#stop = () => {
      for (const signal of RELAYED) process.off(signal, listener);
      process.off('SIGTSTP', suspended);
    };
  }

  close(): void {
    this.#stop();
  }
}
