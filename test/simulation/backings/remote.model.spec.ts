import { breakNoRule } from './break-no-rule.js';

breakNoRule('remote', 40_000);
