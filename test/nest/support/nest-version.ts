import { readFileSync } from 'node:fs';

/** 10, 11 or 12: that of the Nest which the specs run on. */
export const NEST_MAJOR = majorOf(require.resolve('@nestjs/common'));

function majorOf(entry: string): number {
  const folder = entry.slice(0, entry.lastIndexOf('/common/') + '/common/'.length);
  const { version } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as {
    version: string;
  };
  return Number.parseInt(version, 10);
}
