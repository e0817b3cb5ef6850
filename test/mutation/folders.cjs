const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');

/** Faults, variants, processes and models take too long for each mutant. */
const QUICK = /^(?!.*[.](fault|variant|process|model)[.]spec[.]ts$).*[.]spec[.]ts$/;

/** The specs that judge the mutants of a folder of lib, besides those of the folder of the same name. */
const FURTHER = {
  core: [
    'core/acquire',
    'core/options',
    'core/scope',
    'core/drain',
    'core/inspection',
    'core/evict',
    'core/list',
  ],
  'core/acquire': ['core/queue', 'core/events', 'core/scope', 'core/store', 'core/inspection'],
  'core/async': ['core/acquire', 'core/lease', 'core/scope'],
  'core/contract': ['core/acquire', 'core/store', 'core/options', 'core/health'],
  'core/drain': ['core/acquire'],
  'core/events': ['core/acquire', 'core/lease'],
  'core/evict': ['core/acquire', 'core/lease'],
  'core/inspection': ['core/acquire', 'core/lease', 'core/list'],
  'core/lease': ['core/acquire', 'core/store', 'core/queue', 'core/evict'],
  'core/list': ['core/inspection'],
  'core/options': ['core/acquire', 'core/lease', 'core/queue', 'core/scope'],
  'core/queue': ['core/acquire', 'core/scope', 'core/drain', 'core/inspection'],
  'core/scope': ['core/acquire', 'core/lease', 'core/queue'],
  'core/sharing': ['core/queue', 'stores/memory'],
  'core/store': [
    'core/acquire',
    'core/contract',
    'core/lease',
    'core/health',
    'core/queue',
    'core/scope',
    'core/options',
  ],
  'core/text': ['core/contract', 'core/options', 'core/keys', 'core/scope', 'core/acquire'],
  'stores/memory': ['core/queue', 'core/sharing', 'core/list', 'core/evict', 'core/inspection'],
};

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
  const folder = process.env.HOLDFAST_MUTATION;
  const folders = [folder === 'core' ? [] : folder, FURTHER[folder] ?? []].flat();
  const existing = folders.map((each) => `test/${each}`).filter((each) => existsSync(each));
  const files = existing.flatMap((each) =>
    readdirSync(each, { recursive: true }).map((file) => path.posix.join(each, String(file))),
  );
  return [...new Set(files)].filter((file) => QUICK.test(file));
};
