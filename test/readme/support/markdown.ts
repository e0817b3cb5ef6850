import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..', '..');

export interface Heading {
  readonly level: number;
  readonly text: string;
}

/** One fenced block: ```` ```ts partial ````. */
export interface CodeBlock {
  /** Path of its page from the root of the project. */
  readonly page: string;
  /** The heading above it. */
  readonly heading: string;
  /** Line of the page on which its code begins, from 1. */
  readonly line: number;
  readonly language: string;
  /** The words behind the language. */
  readonly marks: readonly string[];
  readonly code: string;
}

export interface Page {
  readonly path: string;
  readonly headings: readonly Heading[];
  readonly blocks: readonly CodeBlock[];
  /** Without the code blocks. */
  readonly prose: string;
}

/** The pages at the root, and everything below docs/. */
export function pagePaths(): string[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`);
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...pages.toSorted()];
}

export function readPage(path: string): Page {
  return parsePage(path, readFileSync(join(ROOT, path), 'utf8'));
}

export function parsePage(path: string, text: string): Page {
  const headings: Heading[] = [];
  const blocks: CodeBlock[] = [];
  const prose: string[] = [];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length; index++) {
    const [, indent, fence, info] = lines[index]!.match(/^( *)(`{3,})([^`]*)$/) ?? [];
    if (fence === undefined) {
      const [, marks, title] = lines[index]!.match(/^(#+) (.*)$/) ?? [];
      if (marks) headings.push({ level: marks.length, text: title! });
      prose.push(lines[index]!);
      continue;
    }
    const line = index + 2;
    const code: string[] = [];
    while (++index < lines.length && lines[index]!.trim() !== fence)
      code.push(lines[index]!.slice(indent!.length));
    const [language = '', ...marks] = info!.trim().split(/ +/);
    const heading = headings.at(-1)?.text ?? '';
    blocks.push({ page: path, heading, line, language, marks, code: `${code.join('\n')}\n` });
  }
  return { path, headings, blocks, prose: prose.join('\n') };
}
