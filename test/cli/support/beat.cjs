// Work under a lock, which writes when it runs: `<pid> <nanoseconds of the machine's clock>`, every few milliseconds, for as long as
// its argument says. A child of its own does the same. `STUBBORN`: both ignore SIGTERM.
const { spawn } = require('node:child_process');
const { appendFileSync } = require('node:fs');

const [, , ms, isChild] = process.argv;
const command = isChild ?? String(process.pid);
const until = performance.now() + Number(ms);
if (process.env.STUBBORN) process.on('SIGTERM', () => {});
if (!isChild) spawn(process.execPath, [__filename, ms, command], { stdio: 'ignore' }).unref();

beat();
if (!isChild) console.log('begun');

function beat() {
  appendFileSync(process.env.BEATS, `${command} ${process.hrtime.bigint()}\n`);
  if (performance.now() < until) setTimeout(beat, 5);
}
