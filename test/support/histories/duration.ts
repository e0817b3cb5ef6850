/** How long the processes work against each other. `HOLDFAST_TEST_SECONDS` makes it longer: the more, the rarer the orders. */
export const WORK_MS = Number(process.env['HOLDFAST_TEST_SECONDS'] ?? 8) * 1_000;
