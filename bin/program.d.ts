/** The file to run of a folder with a build; null where there is none. */
export function programIn(dist: string): string | null;
