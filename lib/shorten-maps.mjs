// Makes source maps short: they know the line of the TypeScript, which is what a stack trace names, and neither its column nor
// its names. Each is written into its file of code.
import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decode, encode } from '@jridgewell/sourcemap-codec';

/** Puts the maps beside the code of a folder into the code. One that leads nowhere is left out. */
export async function shortenMaps(folder) {
  const files = await readdir(folder, { recursive: true });
  const maps = files.filter((file) => file.endsWith('.js.map'));
  await Promise.all(maps.map((file) => inline(join(folder, file))));
}

async function inline(file) {
  const code = file.slice(0, -'.map'.length);
  const [text, map] = await Promise.all([readFile(code, 'utf8'), readFile(file, 'utf8')]);
  const bare = text.replace(/\/\/# sourceMappingURL=.*\s*$/, '');
  const { sources, mappings } = JSON.parse(map);
  const short = { version: 3, sources, names: [], mappings: encode(decode(mappings).map(byLine)) };
  await writeFile(code, sources.length > 0 ? `${bare}${asComment(short)}\n` : bare);
  await rm(file);
}

/** Of the segments of a line of code, those where another line of the source begins. */
function byLine(segments) {
  const found = segments.filter(([, source, line], index) => {
    const [, sourceBefore, lineBefore] = segments[index - 1] ?? [];
    return source !== sourceBefore || line !== lineBefore;
  });
  return found.map(([column, source, line]) =>
    source === undefined ? [column] : [column, source, line, 0],
  );
}

function asComment(map) {
  const data = Buffer.from(JSON.stringify(map)).toString('base64');
  return `//# sourceMappingURL=data:application/json;base64,${data}`;
}
