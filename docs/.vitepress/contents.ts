/** The order of the documents on the site: groups of pages by what a reader wants, each a path of the site and its name. */
export const CONTENTS: readonly { readonly text: string; readonly items: readonly (readonly [string, string])[] }[] = [
  {
    text: "Start",
    items: [
      ["/", "What fieldprobe is"],
      ["/start", "The first five minutes"],
      ["/questions", "How do I …"],
      ["/clients", "Clients"],
      ["/python", "Python package"],
      ["/client", "Typed client"],
    ],
  },
  {
    text: "Ask",
    items: [
      ["/asking", "Asking"],
      ["/operations", "Operations"],
      ["/tracking", "Particles, paths and flow maps"],
      ["/analysis", "Analysis"],
      ["/jobs", "Jobs"],
      ["/later-operations", "Operations of the later interface"],
      ["/later-interface", "The later SOAP interface"],
      ["/events", "Events"],
    ],
  },
  {
    text: "Data",
    items: [
      ["/datasets", "Your own datasets"],
      ["/sources", "Zarr, HTTP and S3"],
      ["/levels", "Levels of large grids"],
      ["/demonstration-data", "Demonstration data"],
      ["/demonstration-isotropic64", "Isotropic turbulence, 64³"],
      ["/demonstration-channel", "Turbulent channel"],
    ],
  },
  {
    text: "Results",
    items: [
      ["/accuracy", "Accuracy"],
      ["/differences", "Differences from the public service"],
      ["/performance", "Performance"],
    ],
  },
  {
    text: "Operate",
    items: [
      ["/configuration", "Settings"],
      ["/operating", "Operating a service"],
      ["/reverse-proxy", "Reverse proxy"],
      ["/cluster", "Clusters"],
      ["/security", "Security"],
      ["/compatibility", "Compatibility"],
      ["/release", "Releases"],
      ["/licences", "Licences"],
      ["/changelog", "Changes"],
    ],
  },
  {
    text: "Reference",
    items: [
      ["/reference/http", "Plain HTTP (OpenAPI)"],
      ["/reference/events", "Events (OpenAPI)"],
      ["/reference/client/", "Typed client"],
      ["/reference/python", "Python package"],
      ["/rules", "Rules of the wire"],
    ],
  },
  {
    text: "The source",
    items: [
      ["/contributing", "Contributing"],
      ["/architecture", "Architecture"],
      ["/glossary", "Glossary"],
      ["/decisions/", "Decisions"],
      ["/decisions/dependencies", "Dependencies"],
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
