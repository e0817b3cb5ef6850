import type { QuorumReport } from './lock-store.js';
import { redact } from '../text/redaction.js';

/** The quorum report of an error, for a store with several nodes. */
export function reportOf(error: unknown): QuorumReport | undefined {
  return (error as { readonly report?: QuorumReport } | null | undefined)?.report;
}

/** ` (2 of 5 nodes granted, 3 were needed; a:1 held, a:2 timeout)`. */
export function inWords(report: QuorumReport | undefined): string {
  if (!report) return '';
  const said = report.nodes.map(({ node, said: words }) => redact(`${node} ${words}`));
  return ` (${report.ended}; ${said.join(', ')})`;
}
