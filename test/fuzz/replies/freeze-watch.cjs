// A thread beside the fuzzer. Where the main thread stays in one call for too long, it says in which, and ends the process.
const { writeSync } = require('node:fs');
const { Session } = require('node:inspector');
const { workerData } = require('node:worker_threads');

/** Milliseconds between two looks, and without a beat of the main thread. */
const LOOK_EVERY = 1_000;
const FROZEN_AFTER = 60_000;
const FRAMES = 4;

const beats = new Int32Array(workerData);
let last = -1;
let since = performance.now();

setInterval(() => {
  const now = Atomics.load(beats, 0);
  if (now !== last) [last, since] = [now, performance.now()];
  else if (performance.now() - since > FROZEN_AFTER) nameCall();
}, LOOK_EVERY);

function nameCall() {
  since = Infinity; // once
  const files = new Map();
  const session = new Session();
  session.connectToMainThread();
  session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url));
  session.on('Debugger.paused', ({ params }) => {
    const calls = params.callFrames.slice(0, FRAMES).map(({ functionName, location }) => {
      const file = files.get(location.scriptId).replace(/.*\/node_modules\//, 'node_modules/');
      return `${functionName} ${file}:${location.lineNumber + 1}`;
    });
    writeSync(1, `frozen in ${calls.join(' < ')}\n`);
    process.kill(process.pid, 'SIGKILL');
  });
  session.post('Debugger.enable', () => session.post('Debugger.pause'));
}
