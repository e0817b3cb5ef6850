import { spawnSync } from 'node:child_process';

// As an ES module, as CommonJS, and as the source of a bundler: the types of the package have to be found and to fit.
const resolutions = [
  ['--module', 'nodenext', 'esm.mts', 'cjs.cts'],
  ['--module', 'esnext', '--moduleResolution', 'bundler', 'esm.mts', 'cjs.cts'],
];
const always = [
  ['--noEmit', '--strict', '--target', 'es2023', '--types', 'node'],
  ['--experimentalDecorators', '--emitDecoratorMetadata', '--skipLibCheck'],
].flat();

for (const compiler of ['typescript5', 'typescript6']) {
  for (const options of resolutions) {
    const tsc = `node_modules/${compiler}/bin/tsc`;
    const { status } = spawnSync(process.execPath, [tsc, ...always, ...options], {
      stdio: 'inherit',
    });
    if (status !== 0) throw new Error(`${compiler} ${options.join(' ')}`);
  }
}
