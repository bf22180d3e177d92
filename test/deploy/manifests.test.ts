/** The deployment files, as far as can be judged without containers: they parse, and they agree with the code. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig, readConfig } from "../../src/shared/config.js";
import { natsOptions } from "../../src/shared/nats.js";

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
  images: { name: string; newTag: string }[];
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
    expect(manifests.map(({ kind, metadata, apiVersion }) => `${apiVersion} ${kind} ${metadata.name}`)).toEqual([
      "v1 Namespace fieldprobe",
      "v1 Service fieldprobe",
      "apps/v1 Deployment fieldprobe",
      "networking.k8s.io/v1 NetworkPolicy fieldprobe",
      "policy/v1 PodDisruptionBudget fieldprobe",
    ]);
  });

  it("select the pods they make, on ports these have", () => {
    for (const { kind, spec } of manifests) {
      if (!spec || kind === "NetworkPolicy") continue;
      const labels = kind === "Service" ? spec.selector : (spec.selector as { matchLabels: object }).matchLabels;
      const target = workloads.find((workload) => JSON.stringify(workload.labels) === JSON.stringify(labels));
      expect(target).toBeDefined();
      for (const { name, targetPort } of spec.ports ?? [])
        expect(target?.container.ports?.map((port) => port.name)).toContain(targetPort ?? name);
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
      expect(["/healthz", "/readyz"]).toContain(probe.httpGet?.path);
      expect(container.ports?.map(({ name }) => name)).toContain(probe.httpGet?.port);
    }
  });

  it.each(workloads)(
    "$name has settings that the service takes, and time to drain",
    ({ container, terminationGracePeriodSeconds }) => {
      const config = loadConfig({}, settingsOf(container.env.map(({ name, value }) => [name, value ?? ""] as const)));
      // What deploy/nats/values.yaml gives the chart: three servers behind one name, TLS, and credentials.
      expect(config.nats.servers).toEqual(["tls://nats.fieldprobe:4222"]);
      expect(() => natsOptions(config.nats)).toThrow(/NATS_CREDENTIALS: .*no such file/);
      expect(terminationGracePeriodSeconds).toBeGreaterThan(config.limits["shutdown.graceMs"] / 1000 + 5);
    },
  );

  it("name the image by the version of the package", () => {
    const { version } = JSON.parse(readFileSync(join(DEPLOY, "../package.json"), "utf8")) as { version: string };
    expect(kustomization.images).toEqual([{ name: "fieldprobe", newTag: version }]);
    expect(read("compose.yaml")).toContain(`image: fieldprobe:${version}\n`);
  });
});

describe("compose.yaml", () => {
  const { services } = parse(read("compose.yaml"), { merge: true }) as {
    services: Record<
      string,
      { command: string[]; environment: Record<string, string>; volumes: string[]; stop_grace_period?: string }
    >;
  };

  it.each(["one", "two"])("%s has settings that the service takes and files that it mounts", (name) => {
    const { environment, volumes, stop_grace_period } = services[name] as (typeof services)[string];
    const config = loadConfig({}, settingsOf(Object.entries(environment)));
    expect(config.nats.servers).toEqual(["tls://nats:4222"]);
    expect(Object.keys(services)).toContain("nats");
    const mounted = volumes.map((volume) => volume.replace(/:ro$/, "").split(":").at(-1) as string);
    for (const file of [config.nats.credentials, config.nats.ca, config.tokens, config.data[0]])
      expect(mounted.some((path) => file === path || file?.startsWith(`${path}/`))).toBe(true);
    expect(Number.parseInt(stop_grace_period ?? "", 10)).toBeGreaterThan(config.limits["shutdown.graceMs"] / 1000);
  });

  it("mounts every volume for reading only", () => {
    for (const { volumes } of Object.values(services)) for (const volume of volumes) expect(volume).toMatch(/:ro$/);
  });

  it("has the balancer ask the processes that there are", () => {
    const servers = [...read("haproxy.cfg").matchAll(/^ {4}server (\S+) (\S+):8080$/gm)].map(([, , host]) => host);
    expect(Object.keys(services)).toEqual(["nats", "balancer", ...servers]);
  });
});

it("the image and the unit tell the C library the same", () => {
  const told = (text: string): string[] => [...text.matchAll(/MALLOC_\w+=\d+/g)].map(([variable]) => variable);
  expect(told(read("Dockerfile"))).toHaveLength(3);
  expect(told(read("single/fieldprobe.service"))).toEqual(told(read("Dockerfile")));
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

it("documents and deployments of a cluster set no variables with the prefix that are no settings: a service refuses them", () => {
  const files = ["../docs/cluster.md", "compose.yaml", "nats/nats-server.conf", "nats/values.yaml"];
  const named = files.flatMap(
    (file) => readFileSync(join(DEPLOY, file), "utf8").match(/\bFIELDPROBE_[A-Z0-9_]+\b/g) ?? [],
  );
  const { problems } = readConfig({}, Object.fromEntries(named.map((name) => [name, "1"])));
  expect(named.length).toBeGreaterThan(5);
  expect(problems.filter((problem) => problem.startsWith("there is no setting"))).toEqual([]);
});
