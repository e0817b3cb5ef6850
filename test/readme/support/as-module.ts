import type { CodeBlock } from './markdown.js';

/**
 * The block as a CommonJS module that runs: its imports stay at the top, and the rest becomes the body of `run`, where
 * `await` is allowed and where `locks` is what the running text calls so. `run` resolves with the classes and functions that the
 * block defines.
 */
export function asModule({ code }: CodeBlock, redisUrl: string): string {
  const imports = [...code.matchAll(/^import [^;]*;$/gm)].map(([line]) => line);
  const body = code
    .replaceAll(/^import [^;]*;\n/gm, '')
    .replaceAll(/^export /gm, '')
    .replaceAll('redis://localhost:6379', redisUrl);
  const defined = body.matchAll(/^(?:class|(?:async )?function) (\w+)/gm);
  return [
    'export {};',
    ...imports,
    "import type { LockService as Locks } from 'nest-holdfast';",
    'export async function run(given: { locks: Locks }): Promise<Record<string, unknown>> {',
    declares(body, 'locks') ? 'void given;' : 'const { locks } = given; void locks;',
    body,
    `return { ${[...defined].map(([, name]) => name).join(', ')} };`,
    '}',
  ].join('\n');
}

function declares(code: string, name: string): boolean {
  return new RegExp(`^const ${name}\\b`, 'm').test(code);
}
