// `node loaded.mjs <name>`: prints the files that an import of it loads, from the root of the project, as JSON.
import { createRequire, register } from 'node:module';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

const { port1: own, port2: ofHook } = new MessageChannel();
const hook = `
  let port;
  export function initialize({ ofHook }) { port = ofHook; }
  export function load(url, context, next) { port.postMessage(url); return next(url, context); }`;
register(`data:text/javascript,${encodeURIComponent(hook)}`, {
  data: { ofHook },
  transferList: [ofHook],
});
await import(process.argv[2]);

const root = `file://${process.cwd()}/`;
const loaded = Object.keys(createRequire(`${process.cwd()}/x.js`).cache).map(
  (file) => `file://${file}`,
);
for (let each; (each = receiveMessageOnPort(own));) loaded.push(each.message);
const files = loaded.filter((url) => url.startsWith(root)).map((url) => url.slice(root.length));
console.log(JSON.stringify([...new Set(files)].toSorted()));
process.exit();
