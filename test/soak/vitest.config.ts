/** The long run: hostile requests and damaged files by the thousand against the program as it ships. */
import { suite } from "../support/suite.js";

export default suite("test/soak/**/*.soak.ts", (2 * Number(process.env.SOAK_MINUTES ?? 10) + 30) * 60_000);
