import { breakNoRule } from './break-no-rule.js';

breakNoRule('redis', 20_000);
