/** Exit codes of the command line: those of sysexits.h, and of `timeout` for a command that cannot run. */
export const ExitCode = {
  done: 0,
  /** `inspect`: the key is free. `wait`: it is still held. `release`: nothing was taken. `doctor`: a check failed. */
  no: 1,
  usage: 64,
  /** The store does not answer. */
  storeDown: 69,
  /** The lock was lost while its command ran; or an error of the command line itself. */
  lost: 70,
  /** Another caller holds the key. */
  busy: 75,
  cannotExecute: 126,
  notFound: 127,
  /** A command that signal `n` ended exits with this and `n`, as shells say it. */
  signalled: 128,
} as const;
