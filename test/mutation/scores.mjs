// A row of Markdown for each folder that has been judged, from the reports in reports/mutation.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import folders from './folders.cjs';
import { NOT_DRAWN, isDrawn } from './mutants.mjs';

const REPORTS = 'reports/mutation';
const HEAD = ['Folder', 'Judged', 'Killed', 'Survived', 'Of these, no test runs', 'Not drawn', 'At load, not judged', 'Score']; // prettier-ignore

/** The mutants of each file, as the latest report about it has them. */
function judgedFiles() {
  const reports = readdirSync(REPORTS).filter((each) => each.endsWith('.json') && each !== 'lua.json'); // prettier-ignore
  const timeOf = (report) => statSync(path.join(REPORTS, report)).mtimeMs;
  const files = new Map();
  for (const report of reports.toSorted((a, b) => timeOf(a) - timeOf(b))) {
    const found = JSON.parse(readFileSync(path.join(REPORTS, report), 'utf8')).files;
    for (const [file, { mutants }] of Object.entries(found))
      files.set(file, mutants.map((each) => ({ ...each, fileName: file }))); // prettier-ignore
  }
  return files;
}

/** A folder of core, or a whole room. */
function folderOf(file) {
  const folder = path.posix.dirname(file).replace(/^lib[/]/, '');
  const room = folders.roomOf(folder);
  return room === 'core' ? folder.split('/').slice(0, 2).join('/') : room;
}

/** How many mutants were noticed, not noticed, and not judged. Those that no test runs are drawn as the others are. */
function scoreOf(mutants) {
  const having = (...states) => mutants.filter(({ status }) => states.includes(status));
  const isLeft = ({ statusReason }) => statusReason?.includes(NOT_DRAWN);
  const killed = having('Killed', 'Timeout').length;
  const noticed = having('Survived', 'RuntimeError').filter((each) => !isLeft(each)).length;
  const left = mutants.filter(isLeft).length;
  const part = left === 0 ? 1 : (killed + noticed) / (killed + noticed + left);
  const unreached = having('NoCoverage').filter((each) => isDrawn(each, part)).length;
  const loading = having('Ignored').filter(({ statusReason }) => /static/i.test(statusReason));
  const notDrawn = left + having('NoCoverage').length - unreached;
  return { killed, survived: noticed + unreached, unreached, notDrawn, loading: loading.length };
}

function row(name, mutants) {
  const { killed, survived, unreached, notDrawn, loading } = scoreOf(mutants);
  const score = `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
  return [name, killed + survived, killed, survived, unreached, notDrawn, loading, score];
}

export function table() {
  const groups = new Map();
  for (const [file, mutants] of judgedFiles()) {
    const folder = `\`lib/${folderOf(file)}\``;
    groups.set(folder, [...(groups.get(folder) ?? []), ...mutants]);
  }
  const names = [...groups.keys()].toSorted((a, b) => a.localeCompare(b));
  const rows = names.map((name) => row(name, groups.get(name)));
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [HEAD, ['---', ...Array(7).fill('--:')], ...rows].map(line).join('\n');
}
