import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { SourceMap } from 'node:module';
import { PROJECT } from './project.mjs';

/** Microseconds between two looks at what runs. */
const INTERVAL = 100;

/** Frames that are no code of a library, by the names that V8 gives them. */
const NAMED = {
  '(idle)': undefined,
  '(garbage collector)': 'garbage',
  writeUtf8String: 'writes',
  writeBuffer: 'writes',
  writev: 'writes',
  runMicrotasks: 'promises',
};

export const LAYERS = [
  'core',
  'store',
  'ioredis',
  'node',
  'promises',
  'garbage',
  'writes',
  'other',
];

/** Runs `work` and resolves with the microseconds that each layer took, and with the CPU time of the process. */
export async function profiled(work) {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: INTERVAL });
  const cpu = process.cpuUsage();
  await session.post('Profiler.start');
  const result = await work();
  const { profile } = await session.post('Profiler.stop');
  const { user, system } = process.cpuUsage(cpu);
  session.disconnect();
  return { result, cpu: user + system, layers: layersOf(profile) };
}

function layersOf({ nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const layers = Object.fromEntries(LAYERS.map((layer) => [layer, 0]));
  samples.forEach((id, index) => {
    const layer = layerOf(frames.get(id));
    if (layer) layers[layer] += timeDeltas[index];
  });
  return layers;
}

function layerOf({ functionName, url, lineNumber, columnNumber }) {
  if (functionName in NAMED) return NAMED[functionName];
  if (url.includes('/node_modules/')) return /ioredis|redis|denque/.test(url) ? 'ioredis' : 'other';
  if (url.startsWith('node:')) return 'node';
  if (!url.includes(`${PROJECT}dist/`)) return 'other';
  const { originalSource } = mapOf(url)?.findEntry(lineNumber, columnNumber) ?? {};
  return originalSource?.includes('/stores/') ? 'store' : 'core';
}

const maps = new Map();

/** The build joins the modules of many folders in one file: its source map tells whose a line is. */
function mapOf(url) {
  if (!maps.has(url)) maps.set(url, readMap(new URL(`${url}.map`)));
  return maps.get(url);
}

function readMap(file) {
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}
