import { breakNoRule } from './break-no-rule.js';

breakNoRule('memory', 40_000);
