// Runs the specs of the Nest layer on older versions of Nest:
//   node test/compat/run.mjs [10] [11] [-- options of Jest]
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { install } from './install.mjs';

const words = process.argv.slice(2);
const end = words.includes('--') ? words.indexOf('--') : words.length;
const majors = end > 0 ? words.slice(0, end) : ['10', '11'];
majors.forEach(install);

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const config = fileURLToPath(new URL('jest.compat.cjs', import.meta.url));
const child = spawn(process.execPath, [jest, '--config', config, ...words.slice(end + 1)], {
  stdio: 'inherit',
  env: { ...process.env, NEST_MAJORS: majors.join() },
});
child.once('exit', (code) => (process.exitCode = code ?? 1));
