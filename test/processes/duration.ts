/** How long the processes work against each other. `HOLDFAST_TEST_SECONDS` shortens it while one develops. */
export const WORK_MS = Number(process.env['HOLDFAST_TEST_SECONDS'] ?? 20) * 1_000;
