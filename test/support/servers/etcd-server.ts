import { join } from 'node:path';
import { freePort } from '../processes/free-port.js';
import { ServerGroup, distinctPorts } from '../processes/server-group.js';
import {
  type ServerCommand,
  ServerProcess,
  needed,
  startOnFreePort,
} from '../processes/server-process.js';
import programs from '../processes/server-programs.cjs';
import { sharedServer } from './shared-server.js';

/** The settings that a member needs of all members. */
interface Membership {
  readonly name: string;
  readonly peerPort: number;
  /** `name=url` of each. */
  readonly members: string;
}

/** Milliseconds. The smallest ttl of a lease is one and a half election timeouts, in whole seconds: one second here. */
const PACE = { 'heartbeat-interval': 50, 'election-timeout': 500 };

/** A real etcd of its own, alone or as a member. `restart()` keeps its data. */
export class EtcdServer extends ServerProcess {
  protected readonly name = 'etcd';
  readonly #membership: Membership;

  static async start(): Promise<EtcdServer> {
    const peerPort = await freePort();
    const members = `n0=${urlOf(peerPort)}`;
    return startOnFreePort((port) => new EtcdServer(port, { name: 'n0', peerPort, members }));
  }

  /** The one of this Jest worker, empty: for specs that neither break nor configure it. */
  static shared(): Promise<EtcdServer> {
    return sharedServer('etcd');
  }

  constructor(port: number, membership: Membership) {
    super(port, true);
    this.#membership = membership;
  }

  get url(): string {
    return urlOf(this.port);
  }

  async isLeader(): Promise<boolean> {
    const status = await this.ask('/v3/maintenance/status');
    const { header, leader } = status as { header: { member_id: string }; leader?: string };
    return leader === header.member_id;
  }

  /** One question to the JSON gateway, such as `/v3/kv/range`. Bytes are base64 there. */
  async ask(path: string, body: object = {}): Promise<unknown> {
    const response = await fetch(this.url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  }

  override async clear(): Promise<void> {
    const fromTheFirst = { key: 'AA==', range_end: 'AA==' }; // a byte of zero: all keys
    await this.ask('/v3/kv/deleterange', fromTheFirst);
  }

  protected commandLine(directory: string): ServerCommand {
    const { name, peerPort, members } = this.#membership;
    const peerUrl = urlOf(peerPort);
    return {
      file: needed(programs.etcd(), 'etcd'),
      args: argumentsOf({
        name,
        'data-dir': join(directory, 'data'),
        'listen-client-urls': this.url,
        'advertise-client-urls': this.url,
        'listen-peer-urls': peerUrl,
        'initial-advertise-peer-urls': peerUrl,
        'initial-cluster': members,
        'initial-cluster-state': 'new',
        'initial-cluster-token': members,
        'unsafe-no-fsync': true,
        'log-level': 'error',
        ...PACE,
      }),
      options: { env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch } }, // 3.4 asks for it on arm64
    };
  }

  protected async isReady(): Promise<boolean> {
    const response = await fetch(`${this.url}/health`, { signal: AbortSignal.timeout(1_000) });
    return ((await response.json()) as { health?: string }).health === 'true';
  }
}

/** Members that elect one of them. */
export class EtcdCluster extends ServerGroup<EtcdServer> {
  static start(size = 3): Promise<EtcdCluster> {
    return ServerGroup.startAll(async () => {
      const names = Array.from({ length: size }, (_, index) => `n${index}`);
      const peerPorts = await distinctPorts(size);
      const ports = await distinctPorts(size, peerPorts);
      const urls = names.map((name, index) => `${name}=${urlOf(peerPorts[index]!)}`);
      const members = urls.join(',');
      return new EtcdCluster(
        names.map((name, index) => {
          return new EtcdServer(ports[index]!, { name, peerPort: peerPorts[index]!, members });
        }),
      );
    });
  }

  get urls(): string[] {
    return this.nodes.map(({ url }) => url);
  }
}

function argumentsOf(settings: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
