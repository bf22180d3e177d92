/** The page docs/asking.md, written from the table of calls. */
import { CALL_NAMES, type CallName, callOf, MEMBERS, type MemberName, memberOf } from "../../src/shared/calls.js";

const DATASET = "isotropic32";

const ALIKE: readonly (readonly MemberName[])[] = [
  ["x", "y", "z"],
  ["i", "j", "k"],
];

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");

/** The reference of all calls and members, docs/asking.md. */
export function referenceText(): string {
  const calls = CALL_NAMES.map(
    (name) => `| [\`${name}\`](#${name}) | ${cell(callOf(name).summary)} | ${callOf(name).kind} |`,
  );
  const members = (Object.keys(MEMBERS) as MemberName[]).flatMap((name) => {
    if (ALIKE.some(([, ...others]) => others.includes(name))) return [];
    const names = ALIKE.find(([first]) => first === name) ?? [name];
    const { description, defaultText = "", example, choices = [] } = memberOf(name);
    const isListed = choices.every((one) => description.includes(one));
    const list = isListed ? "" : ` (${choices.map((one) => `\`${one}\``).join(", ")})`;
    const text = names.length > 1 ? description.replace("long x", "long an axis") : description;
    return `| ${names.map((one) => `\`${one}\``).join(", ")} | ${cell(text)}${list} | ${cell(defaultText)} | \`${cell(example)}\` |`;
  });
  const sections = CALL_NAMES.map((name) => {
    const { description, members: own, required, defaultText = {} } = callOf(name);
    const words = Object.entries(defaultText).map(([member, text]) => `\`${member}\`: ${text}`);
    return [
      `### ${name}`,
      "",
      cell(description),
      "",
      `Members: ${own.map((member) => `\`${member}\`${required.includes(member) ? " (required)" : ""}`).join(", ")}.${words.length === 0 ? "" : ` Defaults of this call: ${words.join("; ")}.`}`,
      "",
      "```sh",
      curlOf(name),
      "```",
    ].join("\n");
  });
  return `${[HEAD, "## Calls", "", "| Call | Answers | Kind |", "|---|---|---|", ...calls, "", ANSWERS, "## Members", "", "| Member | Means | Default | Example |", "|---|---|---|---|", ...members, "", "## Each call", "", sections.join("\n\n")].join("\n")}\n`;
}

function curlOf(call: CallName): string {
  const members = Object.entries(callOf(call).example).map(([name, value]) => `--data-urlencode '${name}=${value}'`);
  return `curl -sG 'http://127.0.0.1:8080/api/datasets/${DATASET}/${call}' ${members.join(" ")}`;
}

const HEAD = `# Asking

A question is one sentence: of this dataset, *what*, *where*, *when*, *how*, and in which form. [How do I …](questions.md) has questions
in curl, on the command line and in Python; this page lists every call and member. It is generated from the table of calls, \`src/shared/calls.ts\`.

\`GET\` and \`POST /api/datasets/NAME/CALL\` take the same members, in the query string or as JSON; each has one meaning, as text and as JSON.
\`POST /api/ask\` takes a whole question, \`{"dataset": …, "call": …}\` with its members, or a list of at most 64, and answers a list of
answers and problems. \`GET /api/datasets\` lists the datasets; \`GET /api/datasets/NAME\` has axes, times, the names of quantities, methods, and calls
with their limits. \`/api/docs\` of a running service describes all of them, and \`/api/openapi.json\` is the description for programs.

- In an address, \`+ & # %\` are encoded: with curl, use \`-G --data-urlencode\`. Objects are JSON, or members with dots: \`points.random=1000\`.
- Points may be the body: CSV with a header of names, npy of shape (n, 3), or octets of float32. The other members are then in the query string.
- CSV is text in UTF-8 or UTF-16. Lines before the first row that begin with # or % are comments. A first line \`0,1,2\` above other rows is refused, for pandas
  writes it of columns without names: the point is written \`0.0,1.0,2.0\`.
- CSV may state units in brackets, \`x [m]\`: they have to be those of the dataset. Times and velocities that a call does not use are
  refused. Columns of other names are ignored, but refused beside \`drag\` unless velocities are named: one of them may be meant.
- A question has at most 65536 times; JSON at most 16 MiB and, beside rows of points, 200 000 values.
- A wrong question is answered with all of its faults at once, in \`errors\`: \`code\`, \`member\`, \`detail\` and, if a known name is similar, \`nearest\`.
`;

const ANSWERS = `## Answers

\`\`\`json
{"dataset":"isotropic32","version":…,"manifest":…,"question":{"dataset":"isotropic32","call":"values","what":["u"],"points":[[1,2,3]],"time":0.5,"method":"Lag8",…},
 "columns":[{"name":"x"},{"name":"y"},{"name":"z"},{"name":"u.x"},{"name":"u.y"},{"name":"u.z"}],"rows":[[1,2,3,-0.13712144,0.04219034,0.26850626]]}
\`\`\`

- \`question\` is the whole question with all defaults. Sent to \`/api/ask\`, it gives the same bytes for the same \`version\` and \`manifest\`, the digest of the data: of the size, time of writing and inode of each file, so never put the time of a file back after writing into it (\`manifests\` has those of other datasets that it names).
- Rows are \`columns\` and \`rows\`; grids \`dims\`, \`coords\`, \`units\` and \`data\`; [analysis.md](analysis.md) describes tables. Numbers that are not
  finite are null.
- With a filter, \`filter\` states its kind and its \`widths\` along x, y and z as it acts: a tophat has a whole number of nodes.

\`format\`, or the header \`Accept\`, chooses the form:

| \`format\` | Of | Opened by |
|---|---|---|
| \`json\`, \`csv\` | every call; lines of CSV end in CRLF (RFC 4180), in LF where the command line prints them | |
| \`npy\`, \`npz\` | every call; \`npy\` holds one quantity, \`npz\` several | \`numpy.load\` |
| \`nc\` | every call | \`xarray.open_dataset\`, ParaView: NetCDF-4 with CF coordinates and units |
| \`parquet\` | rows and tables | \`pandas.read_parquet\`, DuckDB |
| \`h5\`, \`zarr\`, \`f32\` | rows and grids; \`h5\` of \`nodes\` has the layout of JHTDB cutouts | h5py, zarr, \`numpy.frombuffer\` |
| \`png\`, \`xmf\` | planes; \`nodes\` | ParaView opens \`xmf\` beside its \`h5\` |

In files of arrays (\`npz\` of rows and grids, \`nc\`, \`h5\`, \`zarr\`), what is no letter or digit of a name becomes \`_\`; the name stands in \`long_name\`. A name that
another column or a coordinate has too is refused in all forms of rows and files: name the quantity, as in \`q = x\`. In a table, \`npy\` is an array of named columns, \`npz\` an array for each column, and the dimension of \`nc\` is the axis of a profile, the wavenumber, or the row number.

An \`h5\` of stored fields has dimension scales and units. \`Velocity_0001\` is frame 0, whichever frames there are, and \`q_0001\` that of \`what=q = u\`.
Other quantities and strides have the names and dimensions of \`nc\`. An \`xmf\` contains no numbers: it refers to \`nodes.h5\`, the answer to the
same question as \`h5\`, which must be in the same folder under that name. The command line writes both, with two \`--out\`, under names of your own.
An \`xmf\` shows stored fields without strides; for other quantities take \`nc\`.

\`\`\`python
import io
from urllib.request import urlopen

import numpy as np
import xarray as xr

PLANE = "http://127.0.0.1:8080/api/datasets/isotropic32/grid?what=wz%3Domega.z&time=0.5&z=1&samples=32&format="
ask = lambda form: io.BytesIO(urlopen(PLANE + form).read())
print(np.load(ask("npy")).shape, sorted(np.load(ask("npz"))))
print(xr.open_dataset(ask("nc"), engine="h5netcdf").wz.interp(x=2, y=3).item())
\`\`\`
\`\`\`text
(32, 32) ['fieldprobe_dataset', 'fieldprobe_manifest', 'fieldprobe_question', 'fieldprobe_version', 't', 'wz', 'x', 'y', 'z']
-0.8045267386745559
\`\`\`

## Regions

\`x\`, \`y\` and \`z\` state the part along an axis in lengths: a number, or \`first:last\`, inclusive. \`i\`, \`j\` and \`k\` state it in nodes, counted from 0: a
number, or \`first:end:stride\`, with end excluded. A number drops the dimension.

- On a periodic axis, a part may begin anywhere and continue across the seam, for at most one period; coordinates and numbers of nodes continue to
  grow beyond the seam. On other axes, a part must lie between the end nodes.
- Calls at nodes take the nodes in a part by lengths. \`grid\` and \`flow_map\` put \`samples\` in the middle of equal intervals of a part, or over a
  whole axis from its first node on. Particles and random points lie anywhere in the box.
`;
