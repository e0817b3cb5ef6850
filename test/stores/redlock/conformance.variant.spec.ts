import { overMemoryNodes, overRedisNodes } from './conformance-suites.js';

[1, 2, 4, 5].forEach(overMemoryNodes);
overRedisNodes(5);
