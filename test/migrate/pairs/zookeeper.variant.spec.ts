import { WITH_ZOOKEEPER, conformanceOfPairs } from './conformance-of-pairs.js';

conformanceOfPairs(WITH_ZOOKEEPER);
