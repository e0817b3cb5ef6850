/** The bytes that a connection has received, as `SilenceWatch` sees a socket. */
export class Progress {
  bytesRead = 0;
  destroyed = false;

  constructor(readonly destroy: (error: Error) => void) {}
}
