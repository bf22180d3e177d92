/** The error of a command line that cannot mean anything: reported in one line, exit code 2. */
export class MisuseError extends Error {}
