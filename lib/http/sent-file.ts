interface FileSender {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  /** Of Express: `download` calls it, too. */
  sendFile?: (...args: unknown[]) => unknown;
}

/**
 * Express ends no response whose client has left, and says of a file that it could not send only to a callback. `begin` is called where
 * there is one, and what it returns once that was called; `closed` when the response has closed after a file was sent.
 */
export function watchFiles(response: object, begin: () => () => void, closed: () => void): void {
  const sender = response as FileSender;
  const original = sender.sendFile;
  if (typeof original !== 'function') return;
  sender.sendFile = (...args) => {
    const at = args.findIndex((arg) => typeof arg === 'function');
    const callback = args[at] as ((...told: unknown[]) => unknown) | undefined;
    const done = callback && begin();
    if (callback)
      args[at] = (...told: unknown[]) => {
        try {
          return callback(...told);
        } finally {
          done!();
        }
      };
    try {
      return original.apply(sender, args);
    } catch (error) {
      done?.();
      throw error;
    } finally {
      if (sender.destroyed) closed();
      else sender.once('close', closed);
    }
  };
}
