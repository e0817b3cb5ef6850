import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One ```ts block of the README. */
export interface CodeBlock {
  /** The heading above it. */
  readonly heading: string;
  /** Line of the README on which its code begins. */
  readonly line: number;
  readonly code: string;
}

const ROOT = join(__dirname, '..', '..');

export function codeBlocks(): CodeBlock[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8');
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => {
    const before = text.slice(0, match.index);
    const heading = before
      .match(/^#+ .*$/gm)!
      .at(-1)!
      .replace(/^#+ /, '');
    return { heading, line: before.split('\n').length + 1, code: match[1]! };
  });
}

/**
 * The block as a module of its own: what it imports stays at the top, and the rest becomes the body of `run`, where `await` is
 * allowed and where `locks` is what the running text calls so. `run` resolves with the classes that the block defines.
 */
export function asModule({ code }: CodeBlock, redisUrl: string): string {
  const imports = [...code.matchAll(/^import .*;$/gm)].map(([line]) => line);
  const body = code
    .replaceAll(/^import .*;\n/gm, '')
    .replaceAll(/^export /gm, '')
    .replaceAll('redis://localhost:6379', redisUrl);
  const classes = [...body.matchAll(/^class (\w+)/gm)].map(([, name]) => name);
  return [
    'export {};',
    ...imports,
    "import type { LockService as Locks } from 'nest-holdfast';",
    'export async function run(given: { locks: Locks }): Promise<Record<string, unknown>> {',
    declares(body, 'locks') ? 'void given;' : 'const { locks } = given; void locks;',
    body,
    `return { ${classes.join(', ')} };`,
    '}',
  ].join('\n');
}

function declares(code: string, name: string): boolean {
  return new RegExp(`^const ${name}\\b`, 'm').test(code);
}
