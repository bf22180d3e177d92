/** Answers recorded by one build and compared with those of another; not part of `npm test`. */
import { suite } from "../support/suite.js";

export default suite("test/recorded/**/*.test.ts", 30 * 60_000, { hookTimeout: 5 * 60_000 });
