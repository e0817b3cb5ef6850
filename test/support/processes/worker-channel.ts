import { createInterface } from 'node:readline';

/** A worker's end of its talk with the `ChildProcess` that spawned it. */
export interface WorkerChannel<Sent, Received> {
  /** Hands a message to the parent. */
  send(message: Sent): void;
  /** Every message of the parent, in order. */
  onMessage(listener: (message: Received) => void): void;
}

/** Opens the talk. The worker then ends when its parent closes the pipe, at the latest when the parent dies. */
export function openChannel<Sent, Received = never>(): WorkerChannel<Sent, Received> {
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => process.exit());
  return {
    send: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
    onMessage: (listener) => {
      lines.on('line', (line) => listener(JSON.parse(line) as Received));
    },
  };
}
