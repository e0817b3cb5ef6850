// Compiles src/main.ts with each tool, runs what comes of it, and compares the keys that it locks.
import { equal, match } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as swc from '@swc/core';
import { build } from 'esbuild';
import { minify } from 'terser';
import webpack from 'webpack';

const SOURCE = 'src/main.ts';
const ESBUILD = { entryPoints: [SOURCE], bundle: true, packages: 'external', platform: 'node' };
const SWC = {
  filename: SOURCE,
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};

mkdirSync('out', { recursive: true });
const npx = (...args) => execFileSync('npx', ['--no-install', ...args], { stdio: 'pipe' });
const write = (name, code) => {
  writeFileSync(`out/${name}.cjs`, code);
  return `out/${name}.cjs`;
};
const bySwc = async (more) =>
  (await swc.transform(readFileSync(SOURCE, 'utf8'), { ...SWC, ...more })).code;
const byEsbuild = async (outfile, more) => {
  await build({ ...ESBUILD, outfile, ...more });
  return outfile;
};

function byWebpack(filename, mode) {
  const options = {
    mode,
    target: 'node20',
    entry: resolve(SOURCE),
    devtool: false,
    resolve: { extensions: ['.ts', '.js'] },
    module: { rules: [{ test: /\.ts$/, loader: 'ts-loader', options: { transpileOnly: true } }] },
    externals: [
      ({ request }, done) => (/^[./]/.test(request) ? done() : done(null, `commonjs ${request}`)),
    ],
    output: { path: resolve('out'), filename },
  };
  return new Promise((done, fail) =>
    webpack(options, (error, stats) => {
      if (error ?? stats.hasErrors()) fail(error ?? new Error(stats.toString('errors-only')));
      else done(`out/${filename}`);
    }),
  );
}

function byNest(builder, more = {}) {
  const outDir = `out/nest-${builder}`;
  writeFileSync(
    'nest-cli.json',
    JSON.stringify({ sourceRoot: 'src', entryFile: 'main', compilerOptions: { builder, ...more } }),
  );
  const base = JSON.parse(readFileSync('tsconfig.json', 'utf8'));
  base.compilerOptions.outDir = outDir;
  writeFileSync('tsconfig.nest.json', JSON.stringify(base));
  npx('nest', 'build', '--path', 'tsconfig.nest.json');
  return builder === 'webpack' ? 'dist/main.js' : `${outDir}/main.js`;
}

/** Whether the names of parameters are still there, so that `<order.id>` can be read. */
const TOOLS = {
  tsc: [true, () => (npx('tsc', '-p', '.'), 'out/tsc/main.js')],
  swc: [true, async () => write('swc', await bySwc())],
  'swc, minified': [
    false,
    async () =>
      write(
        'swc-min',
        await bySwc({
          minify: true,
          jsc: { ...SWC.jsc, minify: { mangle: true, compress: true } },
        }),
      ),
  ],
  'swc, minified without mangling': [
    true,
    async () =>
      write(
        'swc-plain',
        await bySwc({
          minify: true,
          jsc: { ...SWC.jsc, minify: { mangle: false, compress: true } },
        }),
      ),
  ],
  esbuild: [true, () => byEsbuild('out/esbuild.cjs')],
  'esbuild, minified': [false, () => byEsbuild('out/esbuild-min.cjs', { minify: true })],
  'esbuild, minified with keepNames': [
    false,
    () => byEsbuild('out/esbuild-keep.cjs', { minify: true, keepNames: true }),
  ],
  'esbuild, minified but for identifiers': [
    true,
    () => byEsbuild('out/esbuild-ids.cjs', { minifyWhitespace: true, minifySyntax: true }),
  ],
  terser: [false, async () => write('terser', (await minify(await bySwc())).code)],
  'terser without mangling': [
    true,
    async () => write('terser-plain', (await minify(await bySwc(), { mangle: false })).code),
  ],
  webpack: [true, () => byWebpack('webpack.cjs', 'development')],
  'webpack, for production': [false, () => byWebpack('webpack-min.cjs', 'production')],
  'nest build by tsc': [true, () => byNest('tsc')],
  'nest build by swc': [true, () => byNest('swc')],
  'nest build by webpack': [true, () => byNest('webpack')],
};

for (const [tool, [keepsNames, compile]] of Object.entries(TOOLS)) {
  const seen = JSON.parse(execFileSync(process.execPath, [await compile()], { encoding: 'utf8' }));
  for (const way of ['position', 'marked', 'function'])
    equal(seen[way], 'order:42', `${tool}: ${way}`);
  if (keepsNames) equal(seen.named, 'order:42', `${tool}: named`);
  for (const way of keepsNames ? ['short', 'request'] : ['named', 'short', 'request'])
    match(seen[way], /<[01](\.\w+)*>.*@LockKey\(/, `${tool}: ${way}, got ${seen[way]}`);
  console.log(`${tool}: ${keepsNames ? 'names stay' : 'names are refused'}`);
}
