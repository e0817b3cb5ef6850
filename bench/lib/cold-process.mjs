// A process of cold.mjs: loads one file of adapters/, connects one candidate, and times its first locks.
import { pathToFileURL } from 'node:url';
import { Noise } from './noise.mjs';
import { quantile, sum } from './stats.mjs';

const [file, name, port, cycles] = process.argv.slice(2);
const { default: make } = await import(pathToFileURL(file).href);
const candidate = make().find((each) => each.name === name);
await candidate.setup(Number(port));

const noise = new Noise([process.pid]);
const times = [];
for (let cycle = 0; cycle < Number(cycles); cycle++) {
  const started = performance.now();
  const lock = await candidate.acquire(`cold:${name}:${cycle}`, { ttl: 10_000, wait: 0 });
  await lock.release();
  times.push(performance.now() - started);
}
const sample = {
  'first ms': times[0],
  'p50 µs': quantile(times, 0.5) * 1_000,
  'all ms': sum(times),
  noise: noise.share(),
};
process.stdout.write(JSON.stringify(sample), () => process.exit(0));
