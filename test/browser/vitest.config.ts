/** The tests in a real browser, apart from the suite: they need a Chromium and the built page. */
import { suite } from "../support/suite.js";

// For two busy cores that draw in software.
export default suite("test/browser/**/*.browser.ts", 480_000, {
  expect: { poll: { timeout: 10_000 } },
  hookTimeout: 60_000,
  fileParallelism: false,
});
