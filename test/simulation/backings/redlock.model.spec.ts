import { breakNoRule } from './break-no-rule.js';

breakNoRule('redlock', 4_000);
