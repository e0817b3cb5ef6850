// A row of Markdown for each folder that has been judged, from reports/mutation.
import { existsSync, readFileSync } from 'node:fs';

/** Of `lib/<folder>`: how many mutants were made, noticed, not noticed, and not judged. */
function scoreOf(folder) {
  const report = `reports/mutation/${folder.replaceAll('/', '-')}.json`;
  if (!existsSync(report)) return [];
  const { files } = JSON.parse(readFileSync(report, 'utf8'));
  const mutants = Object.values(files).flatMap((file) => file.mutants);
  const count = (...states) => mutants.filter(({ status }) => states.includes(status)).length;
  const isStatic = ({ status, statusReason }) =>
    status === 'Ignored' && /static/i.test(statusReason);
  const killed = count('Killed', 'Timeout');
  const survived = count('Survived', 'NoCoverage', 'RuntimeError');
  const loading = mutants.filter(isStatic).length;
  return [{ folder, killed, survived, unreached: count('NoCoverage'), loading }];
}

export function table(folders) {
  const rows = folders.flatMap(scoreOf).map(({ folder, killed, survived, unreached, loading }) => {
    const score = `${((100 * killed) / (killed + survived)).toFixed(1)} %`;
    const cells = [
      `\`lib/${folder}\``,
      killed + survived,
      killed,
      survived,
      unreached,
      loading,
      score,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head =
    '| Folder | Judged | Killed | Survived | Of these, no test runs | At load, not judged | Score |';
  return [head, '| --- | --: | --: | --: | --: | --: | --: |', ...rows].join('\n');
}
