/** The bytes that a connection has received, as `SilenceWatch` sees a socket. */
export class Progress {
  bytesRead = 0;
  destroyed = false;

  /** `errored` is why there is no connection. */
  constructor(
    readonly destroy: (error: Error) => void,
    readonly errored?: unknown,
  ) {}

  /** Of a connection that was lost, or never made. */
  static lost(error: unknown): Progress {
    return Object.assign(new Progress(() => undefined, error), { destroyed: true });
  }
}
