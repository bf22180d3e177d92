/** The order of the documents on the site: groups of pages by what a reader wants, each a path of the site and its name. */
export const CONTENTS: readonly { readonly text: string; readonly items: readonly (readonly [string, string])[] }[] = [
  {
    text: "Start",
    items: [
      ["/", "What fieldprobe is"],
      ["/start", "The first five minutes"],
      ["/questions", "How do I …"],
      ["/asking", "Asking"],
      ["/python", "Python package"],
      ["/client", "Typed client"],
    ],
  },
  {
    text: "Your data",
    items: [
      ["/datasets", "Datasets"],
      ["/sources", "Zarr, HTTP and S3"],
      ["/levels", "Levels of large grids"],
      ["/demonstration-data", "Included flows"],
    ],
  },
  {
    text: "Explore",
    items: [
      ["/page", "The page"],
      ["/analysis", "Analysis"],
      ["/gallery", "Gallery"],
      ["/tracking", "Particles, paths and flow maps"],
      ["/jobs", "Jobs"],
    ],
  },
  {
    text: "Operate",
    items: [
      ["/cluster", "Clusters"],
      ["/operating", "Operating a service"],
      ["/configuration", "Settings"],
      ["/reverse-proxy", "Reverse proxy"],
      ["/security", "Security"],
    ],
  },
  {
    text: "The public service",
    items: [
      ["/clients", "Clients"],
      ["/operations", "SOAP operations"],
      ["/rules", "Rules of the wire"],
      ["/differences", "Differences"],
    ],
  },
  {
    text: "Results",
    items: [
      ["/accuracy", "Accuracy"],
      ["/performance", "Performance"],
    ],
  },
  {
    text: "Events",
    items: [
      ["/events", "Events"],
      ["/reference/events", "Events (OpenAPI)"],
    ],
  },
  {
    text: "Reference",
    items: [
      ["/reference/http", "Plain HTTP (OpenAPI)"],
      ["/reference/client/", "Typed client"],
      ["/reference/python", "Python package"],
      ["/compatibility", "Compatibility"],
      ["/changelog", "Changes"],
      ["/licences", "Licences"],
    ],
  },
  {
    text: "The source",
    items: [
      ["/architecture", "Architecture"],
      ["/contributing", "Contributing"],
      ["/glossary", "Glossary"],
      ["/decisions/", "Decisions"],
      ["/decisions/dependencies", "Dependencies"],
      ["/release", "Releases"],
    ],
  },
];

/** Where documents of the repository are on the site; others keep their path. */
export const PLACES: Readonly<Record<string, string>> = {
  "README.md": "index.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "security.md",
  "python/README.md": "python.md",
  "docs/decisions/README.md": "decisions/index.md",
  "docs/python-reference.md": "reference/python.md",
  "docs/reference/client/README.md": "reference/client/index.md",
};
