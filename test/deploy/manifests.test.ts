/** The deployment files, as far as they can be judged without a container engine: they parse, and they agree with the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { SUBJECTS, WORKERS_GROUP } from "../../src/cluster/wire/subjects.js";
import { loadConfig } from "../../src/config.js";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const read = (path: string): string => readFileSync(join(DEPLOY, path), "utf8");

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly { name: string; value?: string }[];
  readonly ports?: readonly { name: string; containerPort: number }[];
  readonly volumeMounts: readonly { name: string; mountPath: string }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
}

interface Probe {
  readonly httpGet?: { path: string; port: string };
  readonly exec?: { command: readonly string[] };
}

interface Volume {
  readonly name: string;
  readonly secret?: { secretName: string; items?: readonly { path: string }[] };
  readonly configMap?: { name: string };
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly selector?: Record<string, unknown>;
    readonly serviceName?: string;
    readonly ports?: readonly { name: string; port: number; targetPort?: string }[];
    readonly template?: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        terminationGracePeriodSeconds: number;
        containers: readonly [Container];
        volumes: readonly Volume[];
      };
    };
  };
}

const kustomization = parse(read("kustomization.yaml")) as {
  resources: string[];
  configMapGenerator: { name: string; files: string[] }[];
};
const manifests = kustomization.resources.flatMap((path) =>
  parseAllDocuments(read(path)).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  }),
);
const workloads = manifests.flatMap(({ metadata, spec: { template } = {} }) =>
  template
    ? [
        {
          name: metadata.name,
          labels: template.metadata.labels,
          ...template.spec,
          container: template.spec.containers[0],
        },
      ]
    : [],
);

/** The FIELDPROBE_ settings among some variables. */
function settingsOf(env: Iterable<readonly [string, string]>): Record<string, string> {
  const settings = [...env].filter(([name]) => name.startsWith("FIELDPROBE_"));
  return Object.fromEntries(
    settings.map(([name, value]) => [name, value.replace(/^\$\{BASE_URL:.*\}$/, "https://a.b")]),
  );
}

describe("Kubernetes manifests", () => {
  it("are all part of the kustomization, and what it names exists", () => {
    expect(kustomization.resources.toSorted()).toEqual(
      readdirSync(join(DEPLOY, "kubernetes"))
        .map((name) => `kubernetes/${name}`)
        .toSorted(),
    );
    for (const { files } of kustomization.configMapGenerator)
      for (const file of files) expect(existsSync(join(DEPLOY, file))).toBe(true);
    expect(manifests.map(({ kind, metadata, apiVersion }) => `${apiVersion} ${kind} ${metadata.name}`)).toEqual([
      "v1 Namespace fieldprobe",
      "v1 Service nats",
      "apps/v1 StatefulSet nats",
      "v1 Service fieldprobe",
      "apps/v1 Deployment fieldprobe-gateway",
      "apps/v1 Deployment fieldprobe-worker",
      "policy/v1 PodDisruptionBudget fieldprobe-gateway",
      "policy/v1 PodDisruptionBudget fieldprobe-worker",
      "policy/v1 PodDisruptionBudget nats",
    ]);
  });

  it("select the pods they make, on ports these have", () => {
    for (const { kind, spec } of manifests) {
      if (!spec) continue;
      const labels = kind === "Service" ? spec.selector : (spec.selector as { matchLabels: object }).matchLabels;
      const target = workloads.find((workload) => JSON.stringify(workload.labels) === JSON.stringify(labels));
      expect(target).toBeDefined();
      for (const { name, targetPort } of spec.ports ?? [])
        expect(target?.container.ports?.map((port) => port.name)).toContain(targetPort ?? name);
      if (spec.serviceName !== undefined)
        expect(manifests.map(({ metadata }) => metadata.name)).toContain(spec.serviceName);
    }
  });

  it.each(workloads)("$name mounts volumes that it has, and its files are in them", ({ container, volumes }) => {
    for (const { name } of container.volumeMounts) expect(volumes.map((volume) => volume.name)).toContain(name);
    for (const { name, value = "" } of container.env) {
      if (!value.startsWith("/")) continue;
      const mount = container.volumeMounts.find(
        ({ mountPath }) => value === mountPath || value.startsWith(`${mountPath}/`),
      );
      expect(mount, `${name}=${value}`).toBeDefined();
      const volume = volumes.find((one) => one.name === mount?.name);
      const items = volume?.secret?.items?.map(({ path }) => `${mount?.mountPath}/${path}`);
      if (items) expect(items).toContain(value);
    }
  });

  it.each(workloads)("$name has probes of all three kinds that ask for what there is", ({ container }) => {
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe]) {
      if (probe.httpGet) {
        expect(["/healthz", "/readyz"]).toContain(probe.httpGet.path);
        expect(container.ports?.map(({ name }) => name)).toContain(probe.httpGet.port);
      } else expect(probe.exec?.command.at(-1)).toMatch(/fieldprobe\.js cluster status .*--expect/);
    }
  });

  it.each(workloads.filter(({ name }) => name !== "nats"))(
    "$name has settings that the service takes, and time to drain",
    ({ container, terminationGracePeriodSeconds }) => {
      const config = loadConfig(
        {},
        settingsOf(container.env.map(({ name, value }) => [name, value ?? "pod-1"] as const)),
      );
      expect(config.cluster.role).toBe(container.args[0] === "serve" ? "gateway" : "all");
      expect(config.cluster.nats).toEqual([0, 1, 2].map((i) => `tls://nats-${i}.nats:4222`));
      expect(config.cluster.ca).not.toBeNull();
      expect(terminationGracePeriodSeconds).toBeGreaterThan(config.limits["shutdown.graceMs"] / 1000 + 5);
    },
  );

  it("give no pod a key that is not its own", () => {
    const keysOf = (name: string) =>
      workloads
        .find((workload) => workload.name === name)
        ?.volumes.find((volume) => volume.name === "keys")
        ?.secret?.items?.map(({ path }) => path);
    expect(keysOf("fieldprobe-gateway")).toEqual(["gateway.nk"]);
    expect(keysOf("fieldprobe-worker")).toEqual(["worker.nk", "status.nk"]);
  });
});

describe("compose.yaml", () => {
  const { services } = parse(read("compose.yaml"), { merge: true }) as {
    services: Record<
      string,
      { command: string[]; environment: Record<string, string>; volumes: string[]; stop_grace_period?: string }
    >;
  };

  it.each(["gateway", "worker", "status"])(
    "%s has settings that the service takes and files that it mounts",
    (name) => {
      const { environment, volumes, stop_grace_period } = services[name] as (typeof services)[string];
      const config = loadConfig({}, settingsOf(Object.entries(environment)));
      expect(config.cluster.role).toBe(name === "gateway" ? "gateway" : "all");
      const mounted = volumes.map((volume) => volume.replace(/:ro$/, "").split(":").at(-1) as string);
      for (const file of [config.cluster.nkey, config.cluster.ca, config.tokens])
        if (file !== null) expect(mounted).toContain(file);
      if (name !== "status") expect(mounted).toContain(config.data[0]);
      expect(Number.parseInt(stop_grace_period ?? "", 10)).toBeGreaterThan(config.limits["shutdown.graceMs"] / 1000);
    },
  );

  it("mounts every volume for reading only", () => {
    for (const { volumes } of Object.values(services)) for (const volume of volumes) expect(volume).toMatch(/:ro$/);
  });

  it("starts servers and commands that there are", () => {
    expect(Object.values(services).map(({ command }) => command[0])).toEqual(["-c", "serve", "worker", "cluster"]);
    expect(services.nats?.volumes[0]).toMatch(/^\.\/nats\.conf:\/etc\/nats\/nats\.conf:/);
  });

  it("gives the server every variable of its configuration", () => {
    const wanted = [...read("nats.conf").matchAll(/: \$(FP_\w+)/g)].map((match) => match[1]);
    const given = Object.keys(services.nats?.environment ?? {});
    expect(given.filter((name) => name.startsWith("FP_")).sort()).toEqual(wanted.toSorted());
    const [server] = manifests
      .flatMap(({ spec }) => spec?.template?.spec.containers ?? [])
      .filter(({ name }) => name === "nats");
    for (const name of ["GOGC", "GOMEMLIMIT"]) {
      const { value } = server?.env.find((one) => one.name === name) ?? {};
      expect(value).toBe(services.nats?.environment?.[name]);
    }
  });
});

describe("nats.conf", () => {
  it("names the subjects of the messages", () => {
    const subjects = new Set([...read("nats.conf").matchAll(/"(fp\.[^"]+)"/g)].map((match) => match[1]));
    const { evaluate, control, any, heartbeats } = SUBJECTS;
    expect(any("Any.Name")).toMatch(/^fp\.v1\.any\.[^.]+$/);
    expect([...subjects].sort()).toEqual(
      [evaluate("*"), control("*"), "fp.v1.any.*", `fp.v1.any.* ${WORKERS_GROUP}`, heartbeats].sort(),
    );
  });
});

describe("Dockerfile", () => {
  it("copies what the package needs to run", () => {
    const { files } = JSON.parse(readFileSync(join(DEPLOY, "../package.json"), "utf8")) as { files: string[] };
    const copied = [...read("Dockerfile").matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map((match) => match[1]);
    expect(copied).toEqual(
      expect.arrayContaining([...files.filter((name) => !name.startsWith("!")), "node_modules", "package.json"]),
    );
  });
});
