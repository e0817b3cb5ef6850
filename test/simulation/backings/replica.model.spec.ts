import { breakNoRule } from './break-no-rule.js';

breakNoRule('replica', 6_000);
