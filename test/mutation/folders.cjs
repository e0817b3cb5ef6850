const { existsSync, readdirSync } = require('node:fs');
const path = require('node:path');

/** Faults, variants, processes and models take too long for each mutant. */
const QUICK = /^(?!.*[.](fault|variant|process|model)[.]spec[.]ts$).*[.]spec[.]ts$/;

/** Each is a run of its own: folders of lib, whose mutants the specs of the same name judge. A call to core crosses most of its folders. */
exports.ROOMS = ['core', 'stores/memory', 'stores/redis', 'stores/redlock', 'nest'];

/** The specs that judge the mutants of a room, besides its own. */
const FURTHER = {
  core: ['stores/memory'],
  'stores/memory': ['core/queue', 'core/sharing', 'core/list', 'core/evict', 'core/inspection'],
};

exports.roomOf = (folder) => exports.ROOMS.find((room) => `${folder}/`.startsWith(`${room}/`));

/** The folders of a run: `HOLDFAST_MUTATION`, separated by commas. They are of one room. */
exports.chosen = () => (process.env.HOLDFAST_MUTATION ?? 'core').split(',');

/** `HOLDFAST_MUTATION_JUDGES`, separated by commas: only specs judge whose path has one of these, so that a run takes less time. */
const isWanted = (file) => {
  const wanted = process.env.HOLDFAST_MUTATION_JUDGES;
  return wanted === undefined || wanted.split(',').some((each) => file.includes(each));
};

/** The quick specs that judge the mutants of these folders. */
exports.specFiles = () => {
  const room = exports.roomOf(exports.chosen()[0]);
  const folders = [room, ...(FURTHER[room] ?? [])].map((each) => `test/${each}`);
  const existing = folders.filter((each) => existsSync(each));
  const files = existing.flatMap((each) =>
    readdirSync(each, { recursive: true }).map((file) => path.posix.join(each, String(file))),
  );
  return [...new Set(files)].filter((file) => QUICK.test(file) && isWanted(file));
};
