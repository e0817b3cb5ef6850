// `node bundle.mjs <name> [names…]`: prints what an application is bundled to that uses these exports of it, or all.
import { rolldown } from 'rolldown';

const [from, ...names] = process.argv.slice(2);
const what = names.length > 0 ? `{ ${names.join(', ')} }` : '* as all';
const APPLICATION = `${process.cwd()}/application.js`;
const code = `import ${what} from '${from}'; console.log(${names.join(', ') || 'all'});`;

const build = await rolldown({
  input: APPLICATION,
  platform: 'node',
  external: (id) => !/^[./]|^nest-holdfast/.test(id),
  plugins: [
    {
      name: 'application',
      resolveId: (id) => (id === APPLICATION ? id : undefined),
      load: (id) => (id === APPLICATION ? code : undefined),
    },
  ],
});
const { output } = await build.generate({ format: 'esm' });
process.stdout.write(output.map((chunk) => chunk.code ?? '').join('\n'));
