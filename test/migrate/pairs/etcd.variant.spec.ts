import { WITH_ETCD, conformanceOfPairs } from './conformance-of-pairs.js';

conformanceOfPairs(WITH_ETCD);
