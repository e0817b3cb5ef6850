// Where the programs of the test servers are: named by an environment variable, on the PATH, or where packages put them.
const { accessSync, constants, existsSync, readdirSync } = require('node:fs');
const path = require('node:path');

/** The newest PostgreSQL that is there: Debian keeps its programs off the PATH. */
function postgresFolders() {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  const newestFirst = versions.toSorted((a, b) => Number(b) - Number(a));
  return newestFirst.map((version) => path.join(root, version, 'bin'));
}

function find(name, folders = []) {
  const candidates = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', ...folders];
  return candidates.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // no such program
  }
}

const JARS = ['/usr/share/java/zookeeper.jar'];

/** Each is looked up when it is asked for, and `undefined` when it is not there. */
module.exports = {
  redis: () => process.env.REDIS_SERVER ?? find('redis-server'),
  java: () => process.env.JAVA ?? find('java'),
  /** A class path: of the jar, when its manifest names what it needs, as Debian's does. */
  zookeeper: () => process.env.ZOOKEEPER_CLASSPATH ?? JARS.find((jar) => existsSync(jar)),
  postgres: () => process.env.POSTGRES_SERVER ?? find('postgres', postgresFolders()),
  initdb: () => process.env.POSTGRES_INITDB ?? find('initdb', postgresFolders()),
  mariadb: () => process.env.MARIADB_SERVER ?? find('mariadbd'),
  mariadbInstall: () => process.env.MARIADB_INSTALL_DB ?? find('mariadb-install-db'),
  etcd: () => process.env.ETCD_SERVER ?? find('etcd'),
  nats: () => process.env.NATS_SERVER ?? find('nats-server'),
  faketime: () => process.env.FAKETIME_PROGRAM ?? find('faketime'),
  chromium: () => process.env.CHROMIUM ?? find('chromium'),
};
