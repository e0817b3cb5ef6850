import { FILES, sourceOf } from '../support/library-sources.js';
import { readPage } from './support/markdown.js';

const { prose } = readPage('docs/troubleshooting.md');

/** The messages of the library as one text: its literals joined, with `…` for what they fill in. */
const messages = FILES.map(sourceOf)
  .join('\n')
  .replaceAll(/['`"] \+\n\s*['`"]/g, '')
  .replaceAll(/\$\{[^}]*\}/g, '…');

describe('docs/troubleshooting.md', () => {
  it('has every code of an error and of a warning', () => {
    const [, union = ''] = /^export type LockErrorCode =\n([^;]*);/m.exec(messages)!;
    const errors = [...union.matchAll(/'(LOCK_\w+)'/g)].map(([, code]) => code!);
    const variables = /^HOLDFAST_RUN_ID$/; // of the environment
    const named = [...messages.matchAll(/'(HOLDFAST_\w+)'/g)].map(([, code]) => code!);
    const warnings = named.filter((code) => !variables.test(code));
    expect(errors.length).toBeGreaterThan(10);
    expect(warnings.length).toBeGreaterThan(5);
    const missing = [...errors, ...warnings].filter((code) => !prose.includes(`\`${code}\``));
    expect(missing).toEqual([]);
  });

  it('has every reason of a loss, with its words', () => {
    const [, reasons = ''] = /^const LOST_BECAUSE = \{\n([^}]*)\}/m.exec(messages)!;
    const known = [...reasons.matchAll(/^ +'?([\w-]+)'?: ["'](.*)["'],$/gm)];
    expect(known).toHaveLength(7);
    for (const [, reason, words] of known)
      expect(prose).toMatch(new RegExp(`\\| \`${reason}\` +\\| \`${words}\` +\\|`));
  });

  it('has the lines of the log', () => {
    const [, table = ''] = readPage('docs/observability.md').prose.split('| Line');
    const lines = [...table.split('\n\n')[0]!.matchAll(/^\| `(.*?…)`/gm)].map(([, line]) => line!);
    expect(lines.length).toBeGreaterThan(4);
    const wordsOf = (line: string) => /(?:"[^"]*"|Node …)[:]? ([a-z ]+)/.exec(line)![1]!.trim();
    expect(lines.map(wordsOf).filter((words) => !prose.includes(words))).toEqual([]);
  });

  it('quotes messages as the library has them', () => {
    const quoted = prose
      .split('\n')
      .flatMap((line) => line.split('`').filter((_, i) => i % 2 === 1));
    const isOwn = (text: string) => /^[\w …"(:,')-]+$/.test(text) && / \w+ /.test(text);
    const own = quoted.filter(isOwn).filter((text) => !/^(npm|maxmemory)/.test(text));
    expect(own.length).toBeGreaterThan(15);
    const partsOf = (text: string) => text.split(/"?…"?/).map((part) => part.trim());
    const isKnown = (part: string) => part.length < 4 || messages.includes(part);
    expect(own.filter((text) => !partsOf(text).every(isKnown))).toEqual([]);
  });
});
