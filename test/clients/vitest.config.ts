/** The toolkits that people use against the real service; apart from the suite, because they are not npm packages. */
import { suite } from "../support/suite.js";

export default suite("test/clients/**/*.clients.ts", 180_000, { hookTimeout: 300_000, fileParallelism: false });
