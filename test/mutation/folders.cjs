const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');

/** Faults, variants, processes and models take too long for each mutant. */
const QUICK = /^(?!.*[.](fault|variant|process|model)[.]spec[.]ts$).*[.]spec[.]ts$/;

/** The specs that judge the mutants of a folder of lib, besides those of the folder of the same name. */
const FURTHER = {
  core: ['stores/memory'],
  'stores/memory': ['core/queue', 'core/sharing', 'core/list', 'core/evict', 'core/inspection'],
};

/** The folders of specs for a folder of lib. A call to core crosses most of its folders, and its specs are quick: all of them judge each. */
function judgesOf(folder) {
  const [room] = folder.split('/');
  const own = room === 'core' ? room : folder;
  return [own, ...(FURTHER[own] ?? [])];
}

/** The folders of a whole run, each of which is a run of its own. */
exports.ALL = [
  'core',
  'core/acquire',
  'core/async',
  'core/contract',
  'core/drain',
  'core/events',
  'core/evict',
  'core/health',
  'core/inspection',
  'core/keys',
  'core/lease',
  'core/list',
  'core/options',
  'core/queue',
  'core/scope',
  'core/sharing',
  'core/store',
  'core/text',
  'stores/memory',
  'stores/redis',
  'stores/redlock',
  'nest',
];

/** The quick specs that judge the mutants of the folder `HOLDFAST_MUTATION`. */
exports.specFiles = () => {
  const folders = judgesOf(process.env.HOLDFAST_MUTATION);
  const existing = folders.map((each) => `test/${each}`).filter((each) => existsSync(each));
  const files = existing.flatMap((each) =>
    readdirSync(each, { recursive: true }).map((file) => path.posix.join(each, String(file))),
  );
  return [...new Set(files)].filter((file) => QUICK.test(file));
};
