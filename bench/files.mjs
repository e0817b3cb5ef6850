// In how many files of `lib` the functions are that one lock runs, whose code is warm: of `LockService`, and of a decorated method.
// The package has them joined, so the files are compiled here one by one. The figures are the same on a busy machine.
//   node bench/files.mjs                                             the files, and what they run
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { functionsOf } from './lib/coverage.mjs';
import { BENCH } from './lib/options.mjs';
import { PROJECT } from './lib/project.mjs';
import { startRedis } from './lib/servers.mjs';

const MODULES = join(BENCH, 'out/modules');
/** Calls until a file has made what it makes once. */
const WARM = 30;

const require = createRequire(import.meta.url);
const library = await compiled();
const { Redis } = require('ioredis');
const { NestFactory } = require('@nestjs/core');
const { DistributedLockModule, LockService } = library;

const server = await startRedis();
const client = new Redis(server.port);
const OrdersService = require('./decorated-service.cjs')((name) =>
  name === 'nest-holdfast' ? library : require(name),
);
const imports = [DistributedLockModule.forRoot({ redis: client })];
const root = { module: class AppModule {}, imports, providers: [OrdersService] };
const app = await NestFactory.createApplicationContext(root, { logger: false });
const [locks, orders] = [app.get(LockService), app.get(OrdersService)];

await print('LockService', async () => {
  const lock = await locks.acquire('order:1', { waitTimeout: 0 });
  await lock.release();
});
await print('a decorated method', () => orders.pay(1));

await app.close();
client.disconnect();
await server.stop();
rmSync(MODULES, { recursive: true });
process.exit(0);

async function compiled() {
  const compiler = join(PROJECT, 'node_modules/typescript7/bin/tsc');
  const args = [compiler, '-p', join(PROJECT, 'lib/tsconfig.json'), '--outDir', MODULES];
  execFileSync(process.execPath, args, { stdio: 'inherit' });
  writeFileSync(join(MODULES, 'package.json'), JSON.stringify({ type: 'module' }));
  return import(pathToFileURL(join(MODULES, 'index.js')));
}

async function print(what, work) {
  for (let call = 0; call < WARM; call++) await work();
  const ours = (await functionsOf(work)).filter(({ url }) => url.includes('/out/modules/'));
  const files = new Map(ours.map(({ url }) => [url.split('/out/modules/')[1], namesIn(ours, url)]));
  console.log(`\n${what}: ${ours.length} functions in ${files.size} files`);
  for (const [file, names] of files) console.log(`  ${file}: ${names.join(', ')}`);
}

function namesIn(functions, file) {
  return functions.filter(({ url }) => url === file).map(({ name }) => name);
}
