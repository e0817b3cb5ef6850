import { overMemoryNodes, overRedisNodes } from './conformance-suites.js';

overMemoryNodes(3);
overRedisNodes(3);
