import {
  type ServerCommand,
  ServerProcess,
  needed,
  startOnFreePort,
} from '../processes/server-process.js';
import programs from '../processes/server-programs.cjs';

/** A real `nats-server` of its own, without JetStream: it keeps nothing. */
export class NatsServer extends ServerProcess {
  protected readonly name = 'nats';

  static start(): Promise<NatsServer> {
    return startOnFreePort((port) => new NatsServer(port));
  }

  private constructor(port: number) {
    super(port, false);
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  protected commandLine(): ServerCommand {
    return {
      file: needed(programs.nats(), 'nats-server'),
      args: ['--addr', '127.0.0.1', '--port', String(this.port)],
    };
  }

  protected isReady(): boolean {
    return this.log.includes('Server is ready');
  }
}
