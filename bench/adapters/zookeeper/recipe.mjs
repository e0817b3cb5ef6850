// The lock of ZooKeeper's documentation as a user writes it by hand: it neither finds a node again whose create was not answered,
// nor notices that its session has ended, nor removes a parent.
import { once } from 'node:events';
import { promisify } from 'node:util';
import zookeeper from 'node-zookeeper-client';

const { CreateMode, Exception } = zookeeper;

export default () => {
  let client;
  let call;
  return [
    {
      name: 'zookeeper-recipe',
      library: 'node-zookeeper-client',
      variant: 'default',
      config:
        'the lock of its documentation by hand: parents that stay, watches the node before its own',
      package: 'node-zookeeper-client',
      quick: true,
      features: ['zookeeper'],
      async setup(port) {
        client = zookeeper.createClient(`127.0.0.1:${port}`);
        const connected = once(client, 'connected');
        client.connect();
        await connected;
        call = promises(client, ['create', 'mkdirp', 'getChildren', 'exists', 'remove']);
      },
      async acquire(key, { wait }) {
        const parent = `/recipe/${encodeURIComponent(key)}`;
        const path = await joinLine(call, parent);
        const release = () => call.remove(path, -1);
        const isHeld = await untilFirst(call, parent, path, wait);
        if (isHeld) return { release };
        await release();
        throw new Error('not acquired');
      },
      async close() {
        client?.close();
      },
    },
  ];
};

const promises = (client, names) =>
  Object.fromEntries(names.map((name) => [name, promisify(client[name]).bind(client)]));

/** The parent is made only where it is missing. */
async function joinLine(call, parent) {
  const join = () => call.create(`${parent}/n-`, CreateMode.EPHEMERAL_SEQUENTIAL);
  try {
    return await join();
  } catch (error) {
    if (error.getCode?.() !== Exception.NO_NODE) throw error;
    await call.mkdirp(parent);
    return join();
  }
}

async function untilFirst(call, parent, path, wait) {
  const own = path.slice(parent.length + 1);
  const end = performance.now() + wait;
  for (;;) {
    const line = (await call.getChildren(parent)).toSorted();
    const place = line.indexOf(own);
    if (place === 0) return true;
    const left = end - performance.now();
    if (!wait || left <= 0) return false;
    await gone(call, `${parent}/${line[place - 1]}`, left);
  }
}

/** Resolves when the node is deleted or was already, or after `ms`. */
function gone(call, path, ms) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    call.exists(path, done).then((stat) => stat ?? done(), reject);
  });
}
