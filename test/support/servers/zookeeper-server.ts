import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { delimiter, join } from 'node:path';
import { type Client, createClient } from 'node-zookeeper-client';
import { ServerGroup, distinctPorts } from '../processes/server-group.js';
import {
  type ServerCommand,
  ServerProcess,
  needed,
  startOnFreePort,
} from '../processes/server-process.js';
import programs from '../processes/server-programs.cjs';
import { sharedServer } from './shared-server.js';

export interface ZooKeeperServerOptions {
  /** Further lines of `zoo.cfg`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

interface Membership {
  readonly id: number;
  /** The line `server.<id>=…` of each. */
  readonly lines: readonly string[];
}

/** Milliseconds. Sessions may be as short as 400. */
const PACE = { tickTime: 200, minSessionTimeout: 400, maxSessionTimeout: 60_000 };
const JVM = [
  '-Xmx128m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  '-Djava.net.preferIPv4Stack=true',
  '-Dzookeeper.admin.enableServer=false',
  '-Dzookeeper.4lw.commands.whitelist=*',
  '-Dzookeeper.forceSync=no',
];
const LOG = `log4j.rootLogger=WARN,C
log4j.appender.C=org.apache.log4j.ConsoleAppender
log4j.appender.C.layout=org.apache.log4j.PatternLayout
log4j.appender.C.layout.ConversionPattern=%d %p %c %m%n
`;

/** A real ZooKeeper of its own, alone or as a member. `restart()` keeps its data. */
export class ZooKeeperServer extends ServerProcess {
  protected readonly name = 'zookeeper';
  readonly #settings: Readonly<Record<string, string | number>>;
  readonly #membership: Membership | undefined;

  static start({ settings = {} }: ZooKeeperServerOptions = {}): Promise<ZooKeeperServer> {
    return startOnFreePort((port) => new ZooKeeperServer(port, settings));
  }

  /** The one of this Jest worker, empty: for specs that neither break nor configure it. */
  static shared(): Promise<ZooKeeperServer> {
    return sharedServer('zookeeper');
  }

  constructor(
    port: number,
    settings: Readonly<Record<string, string | number>>,
    membership?: Membership,
  ) {
    super(port, true);
    this.#settings = settings;
    this.#membership = membership;
  }

  /** For a client's connection string. */
  get url(): string {
    return `127.0.0.1:${this.port}`;
  }

  async isLeader(): Promise<boolean> {
    return (await this.word('srvr')).includes('Mode: leader');
  }

  /** Sends one of the four-letter words, such as `mntr` or `wchc`. */
  word(word: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write(word));
      let answer = '';
      socket.setTimeout(2_000, () => socket.destroy(new Error(`no answer to ${word}`)));
      socket.on('data', (chunk) => (answer += String(chunk)));
      socket.on('error', reject);
      socket.on('close', () => resolve(answer));
    });
  }

  override async clear(): Promise<void> {
    const client = createClient(this.url) as Client & RecursiveRemoval;
    const connected = once(client, 'connected');
    client.connect();
    await connected;
    const children = await asked<string[]>((done) => client.getChildren('/', done));
    for (const name of children.filter((each) => each !== 'zookeeper'))
      await asked((done) => client.removeRecursive(`/${name}`, done));
    client.close();
  }

  protected override async prepare(directory: string): Promise<void> {
    const data = join(directory, 'data');
    await mkdir(data);
    await writeFile(join(directory, 'log4j.properties'), LOG);
    const member = this.#membership;
    if (member) await writeFile(join(data, 'myid'), String(member.id));
    const place = member ? {} : { clientPort: this.port, clientPortAddress: '127.0.0.1' };
    const quorum = member ? { initLimit: 50, syncLimit: 10, standaloneEnabled: 'false' } : {};
    const all = { ...PACE, maxClientCnxns: 0, dataDir: data, ...place, ...quorum, ...this.#settings }; // prettier-ignore
    const lines = Object.entries(all).map(([name, value]) => `${name}=${value}`);
    const text = [...lines, ...(member?.lines ?? []), ''].join('\n');
    await writeFile(join(directory, 'zoo.cfg'), text);
  }

  protected commandLine(directory: string): ServerCommand {
    const classes = [directory, needed(programs.zookeeper(), 'ZooKeeper')].join(delimiter);
    const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
    const log = `-Dlog4j.configuration=file:${join(directory, 'log4j.properties')}`;
    return {
      file: needed(programs.java(), 'Java'),
      args: [...JVM, log, '-cp', classes, main, join(directory, 'zoo.cfg')],
    };
  }

  protected async isReady(): Promise<boolean> {
    return /Mode: (leader|follower|standalone)/.test(await this.word('srvr'));
  }
}

/** Members that elect one of them. */
export class ZooKeeperEnsemble extends ServerGroup<ZooKeeperServer> {
  static start(size = 3, { settings = {} }: ZooKeeperServerOptions = {}) {
    return ServerGroup.startAll(async () => {
      const ports = await distinctPorts(3 * size);
      const [clients, peers, elections] = [0, 1, 2].map((nth) => ports.slice(nth * size, (nth + 1) * size)); // prettier-ignore
      const lines = clients!.map((port, index) => {
        const inner = `127.0.0.1:${peers![index]}:${elections![index]}`;
        return `server.${index + 1}=${inner};127.0.0.1:${port}`;
      });
      const create = (port: number, index: number) =>
        new ZooKeeperServer(port, settings, { id: index + 1, lines });
      return new ZooKeeperEnsemble(clients!.map(create));
    });
  }

  /** For a client's connection string. */
  get url(): string {
    return this.nodes.map(({ url }) => url).join(',');
  }
}

type Done<T> = (error: unknown, result: T) => void;

/** The methods that the types of the client lack. */
interface RecursiveRemoval {
  removeRecursive(path: string, done: Done<void>): void;
}

function asked<T>(ask: (done: Done<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    ask((error, result) => (error instanceof Error ? reject(error) : resolve(result)));
  });
}
