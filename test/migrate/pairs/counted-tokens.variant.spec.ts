import { OF_COUNTED_TOKENS, conformanceOfPairs } from './conformance-of-pairs.js';

conformanceOfPairs(OF_COUNTED_TOKENS);
