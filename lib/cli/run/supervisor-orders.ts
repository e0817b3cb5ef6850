/** A line of JSON from `holdfast run` to its supervisor. Missing fields stay as they were. */
export interface SupervisorOrders {
  /** The command to start, with what its environment has beside ours. */
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds between SIGTERM and SIGKILL, at most. */
  readonly killAfter?: number;
  /** When the command has to be dead: by the monotonic clock of the machine, in ns, and by the wall clock, in ms. */
  readonly deadline?: { readonly monotonic: string; readonly wall: number };
  /** The command has had its SIGTERM. */
  readonly told?: true;
  /** Nothing is left to watch. */
  readonly done?: true;
}

/** A line of JSON from the supervisor. */
export interface SupervisorReport {
  /** The command has started, and leads this process group. */
  readonly group?: number;
  /** It could not be started: `ENOENT`, say. */
  readonly failure?: { readonly code: string; readonly message: string };
  /** It has ended. */
  readonly exit?: { readonly code: number | null; readonly signal: NodeJS.Signals | null };
  /** The supervisor has sent a signal to the group. */
  readonly sent?: 'SIGTERM' | 'SIGKILL';
}
