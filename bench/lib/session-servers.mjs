// ZooKeeper and etcd as their makers deliver them: one server, every write synced to disk.
import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import programs from '../../test/support/processes/server-programs.cjs';
import { freePort, startServer } from './server-process.mjs';
import { firstWords, needed, versionIn, versionOf } from './server-tools.mjs';

const SILENCE = 'log4j.rootLogger=OFF\n';

export async function startZookeeper() {
  const file = needed(programs.java(), 'Java');
  const classes = needed(programs.zookeeper(), 'ZooKeeper');
  const server = await startServer({
    name: 'zookeeper',
    prepare(folder, port) {
      mkdirSync(join(folder, 'data'));
      const settings = {
        clientPort: port,
        clientPortAddress: '127.0.0.1',
        dataDir: join(folder, 'data'),
        tickTime: 2_000,
        maxClientCnxns: 0,
      };
      const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(join(folder, 'zoo.cfg'), lines.join(''));
      writeFileSync(join(folder, 'log4j.properties'), SILENCE);
    },
    command(folder) {
      const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
      const flags = [
        '-Xmx256m',
        '-Dzookeeper.admin.enableServer=false',
        `-Dlog4j.configuration=file:${join(folder, 'log4j.properties')}`,
      ];
      const path = [folder, classes].join(delimiter);
      return { file, args: [...flags, '-cp', path, main, join(folder, 'zoo.cfg')] };
    },
    isReady: async (port) => (await firstWords(port, 'srvr')).includes('Mode: '),
  });
  return { ...server, version: versionIn(await firstWords(server.port, 'srvr')) };
}

export async function startEtcd() {
  const file = needed(programs.etcd(), 'etcd');
  const peer = `http://127.0.0.1:${await freePort()}`;
  const server = await startServer({
    name: 'etcd',
    command(folder, port) {
      const client = `http://127.0.0.1:${port}`;
      const settings = {
        name: 'bench',
        'data-dir': join(folder, 'data'),
        'listen-client-urls': client,
        'advertise-client-urls': client,
        'listen-peer-urls': peer,
        'initial-advertise-peer-urls': peer,
        'initial-cluster': `bench=${peer}`,
        'log-level': 'error',
      };
      const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
      const env = { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch }; // 3.4 asks for it on arm64
      return { file, args, env };
    },
    async isReady(port) {
      const response = await fetch(`http://127.0.0.1:${port}/health`);
      return (await response.json()).health === 'true';
    },
  });
  return { ...server, version: versionOf(file) };
}
