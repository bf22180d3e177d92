/**
 * Every deployment file has only members that its format knows, with values of their types, and settings the service
 * takes.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { loadConfig } from "../../src/config.js";
import { scratchFolder } from "../support/scratch.js";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const read = (path: string) => readFileSync(join(DEPLOY, path), "utf8");

const text = z.string();
const texts = z.record(text, text);
const amount = z.string().regex(/^\d+(\.\d+)?(m|[KMGT]i)?$/);
const quantities = z.strictObject({ cpu: amount.optional(), memory: amount.optional(), storage: amount.optional() });
const action = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith("/"), port: z.union([text, z.int()]) }).optional(),
  exec: z.strictObject({ command: z.array(text).min(1) }).optional(),
});
const probe = action.extend({
  periodSeconds: z.int().positive(),
  timeoutSeconds: z.int().positive().optional(),
  failureThreshold: z.int().positive().optional(),
});
const selector = z.strictObject({ matchLabels: texts });
const container = z.strictObject({
  name: text,
  image: text,
  args: z.array(text),
  env: z.array(
    z.strictObject({
      name: text,
      value: text.optional(),
      valueFrom: z
        .strictObject({
          fieldRef: z.strictObject({ fieldPath: text }).optional(),
          secretKeyRef: z.strictObject({ name: text, key: text }).optional(),
        })
        .optional(),
    }),
  ),
  envFrom: z.array(z.strictObject({ secretRef: z.strictObject({ name: text }) })).optional(),
  ports: z.array(z.strictObject({ name: text, containerPort: z.int().max(65_535) })).optional(),
  lifecycle: z.strictObject({ preStop: action }).optional(),
  startupProbe: probe,
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.strictObject({ requests: quantities, limits: quantities }).optional(),
  securityContext: z
    .strictObject({
      allowPrivilegeEscalation: z.literal(false),
      readOnlyRootFilesystem: z.literal(true),
      capabilities: z.strictObject({ drop: z.tuple([z.literal("ALL")]) }),
    })
    .optional(),
  volumeMounts: z.array(z.strictObject({ name: text, mountPath: text, readOnly: z.boolean().optional() })),
});
const items = z.array(z.strictObject({ key: text, path: text })).optional();
const pod = z.strictObject({
  terminationGracePeriodSeconds: z.int().positive(),
  automountServiceAccountToken: z.literal(false).optional(),
  securityContext: z
    .strictObject({
      runAsNonRoot: z.literal(true),
      runAsUser: z.int().positive(),
      fsGroup: z.int().positive(),
      seccompProfile: z.strictObject({ type: z.literal("RuntimeDefault") }).optional(),
    })
    .optional(),
  affinity: z
    .strictObject({
      podAntiAffinity: z.strictObject({
        requiredDuringSchedulingIgnoredDuringExecution: z.array(
          z.strictObject({ topologyKey: text, labelSelector: selector }),
        ),
      }),
    })
    .optional(),
  containers: z.tuple([container]),
  volumes: z.array(
    z.strictObject({
      name: text,
      persistentVolumeClaim: z.strictObject({ claimName: text, readOnly: z.boolean().optional() }).optional(),
      emptyDir: z.strictObject({}).optional(),
      secret: z.strictObject({ secretName: text, items }).optional(),
      configMap: z.strictObject({ name: text, items }).optional(),
    }),
  ),
});
const template = z.strictObject({
  metadata: z.strictObject({ labels: texts, annotations: texts.optional() }),
  spec: pod,
});
const metadata = z.strictObject({ name: text, namespace: text.optional(), labels: texts.optional() });
const kind = <A extends string, K extends string, S extends z.ZodType>(apiVersion: A, name: K, spec: S) =>
  z.strictObject({ apiVersion: z.literal(apiVersion), kind: z.literal(name), metadata, spec });
const OBJECT = z.union([
  z.strictObject({ apiVersion: z.literal("v1"), kind: z.literal("Namespace"), metadata }),
  kind(
    "v1",
    "Service",
    z.strictObject({
      selector: texts,
      clusterIP: text.optional(),
      publishNotReadyAddresses: z.boolean().optional(),
      ports: z.array(z.strictObject({ name: text, port: z.int(), targetPort: z.union([text, z.int()]).optional() })),
    }),
  ),
  kind(
    "v1",
    "PersistentVolumeClaim",
    z.strictObject({
      accessModes: z.array(z.enum(["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"])),
      resources: z.strictObject({ requests: quantities }),
    }),
  ),
  kind(
    "policy/v1",
    "PodDisruptionBudget",
    z.strictObject({ minAvailable: z.int().optional(), maxUnavailable: z.int().optional(), selector }),
  ),
  kind(
    "networking.k8s.io/v1",
    "NetworkPolicy",
    z.strictObject({
      podSelector: selector,
      policyTypes: z.array(z.enum(["Ingress", "Egress"])),
      ingress: z.array(
        z.strictObject({
          from: z.array(z.strictObject({ podSelector: selector })).optional(),
          ports: z.array(z.strictObject({ port: z.union([text, z.int()]) })),
        }),
      ),
    }),
  ),
  kind(
    "apps/v1",
    "Deployment",
    z.strictObject({
      replicas: z.int().positive(),
      strategy: z
        .strictObject({
          type: z.enum(["Recreate", "RollingUpdate"]).optional(),
          rollingUpdate: z.strictObject({ maxUnavailable: z.int(), maxSurge: z.int() }).optional(),
        })
        .optional(),
      selector,
      template,
    }),
  ),
  kind(
    "apps/v1",
    "StatefulSet",
    z.strictObject({
      serviceName: text,
      replicas: z.int().positive(),
      podManagementPolicy: z.enum(["OrderedReady", "Parallel"]).optional(),
      updateStrategy: z.strictObject({ type: z.enum(["RollingUpdate", "OnDelete"]) }).optional(),
      selector,
      template,
    }),
  ),
]);

const MANIFESTS = [
  "single/kubernetes.yaml",
  ...readdirSync(join(DEPLOY, "kubernetes")).map((name) => `kubernetes/${name}`),
];

describe("Kubernetes objects", () => {
  it.each(MANIFESTS)("%s has only what the API knows", (path) => {
    const documents = parseAllDocuments(read(path));
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) {
      const { success, error } = OBJECT.safeParse(document.toJS());
      expect(success, `${path}: ${error && z.prettifyError(error)}`).toBe(true);
    }
  });

  it("of one process agree with the service: settings, probes, limits and a public address", () => {
    const objects = parseAllDocuments(read("single/kubernetes.yaml")).map((document) => document.toJS());
    const { spec } = objects.find((object) => object.kind === "Deployment").spec.template;
    const [one] = spec.containers;
    const env = Object.fromEntries(one.env.map(({ name, value }: { name: string; value: string }) => [name, value]));
    const config = loadConfig({}, env);
    expect(config.baseUrl).toMatch(/^https:/);
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(config.limits["shutdown.graceMs"] / 1000 + 5);
    expect([one.livenessProbe.httpGet.path, one.readinessProbe.httpGet.path]).toEqual(["/healthz", "/readyz"]);
    const mounted = one.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    expect(mounted).toEqual(expect.arrayContaining([config.data[0], config.state]));
    expect(objects.map((object) => object.kind)).toContain("PodDisruptionBudget");
  });

  it("refuse a member that is misspelt", () => {
    const wrong = read("single/kubernetes.yaml").replace("livenessProbe:", "livenesProbe:");
    expect(parseAllDocuments(wrong).map((document) => OBJECT.safeParse(document.toJS()).success)).toContain(false);
  });
});

const healthcheck = z.union([
  z.strictObject({ disable: z.literal(true) }),
  z.strictObject({ test: z.array(text).min(2), interval: text, timeout: text, start_period: text.optional() }),
]);
const COMPOSE = z.object({
  name: text,
  services: z.record(
    text,
    z.strictObject({
      image: text,
      build: z.strictObject({ context: text, dockerfile: text }).optional(),
      command: z.array(text).optional(),
      restart: z.enum(["no", "unless-stopped"]),
      init: z.boolean().optional(),
      stop_grace_period: z
        .string()
        .regex(/^\d+s$/)
        .optional(),
      read_only: z.boolean().optional(),
      cap_drop: z.array(text).optional(),
      security_opt: z.array(text).optional(),
      tmpfs: z.array(text).optional(),
      mem_limit: z
        .string()
        .regex(/^\d+[mg]$/)
        .optional(),
      pids_limit: z.int().optional(),
      depends_on: z.array(text).optional(),
      profiles: z.array(text).optional(),
      environment: texts.default({}),
      ports: z.array(z.string().regex(/^\d+:\d+$/)).optional(),
      volumes: z.array(z.string().regex(/^[^:]+(:\?[^}]*\})?:\/[^:]*(:ro)?$/)),
      healthcheck: healthcheck.optional(),
    }),
  ),
  volumes: z.record(text, z.null()).optional(),
});

describe("compose files", () => {
  it.each(["compose.yaml", "single/compose.yaml"])("%s has only what the format knows", (path) => {
    const { success, error } = COMPOSE.safeParse(parse(read(path), { merge: true }));
    expect(success, `${path}: ${error && z.prettifyError(error)}`).toBe(true);
  });

  it.each(["compose.yaml", "single/compose.yaml"])("%s sets BASE_URL wherever HOST is public", (path) => {
    const { services } = COMPOSE.parse(parse(read(path), { merge: true }));
    const open = Object.values(services).filter(({ environment }) => environment.FIELDPROBE_HOST === "0.0.0.0");
    expect(open.length).toBeGreaterThan(0);
    for (const { environment } of open) expect(environment.FIELDPROBE_BASE_URL).toMatch(/^\$\{BASE_URL:\?/);
  });
});

describe("fieldprobe.service", () => {
  const unit = read("single/fieldprobe.service");
  const analyze = spawnSync("systemd-analyze", ["--version"]);

  it("sets only what the service takes", () => {
    const env = Object.fromEntries(
      [...unit.matchAll(/^Environment=(FIELDPROBE_\w+)=(.*)$/gm)].map(([, name, value]) => [name, value as string]),
    );
    expect(loadConfig({}, env).state).toBe("/var/lib/fieldprobe");
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(
      Number(env.FIELDPROBE_SHUTDOWN_GRACE_MS) / 1000,
    );
  });

  it("is valid and well confined, as systemd judges it", ({ skip }) => {
    skip(analyze.status !== 0, "systemd-analyze is not installed");
    const folder = scratchFolder();
    const copy = join(folder, "fieldprobe.service");
    copyFileSync(join(DEPLOY, "single/fieldprobe.service"), copy);
    // The program is not installed here.
    writeFileSync(copy, unit.replace(/^ExecStart=.*$/m, `ExecStart=${process.execPath} --version`));
    const verified = spawnSync("systemd-analyze", ["verify", copy], { encoding: "utf8" });
    expect([verified.status, verified.stderr]).toEqual([0, ""]);
    const judged = spawnSync("systemd-analyze", ["security", "--offline=true", copy], { encoding: "utf8" });
    expect(Number(/exposure level for \S+: ([\d.]+)/.exec(judged.stdout)?.[1])).toBeLessThanOrEqual(2);
  });
});

it("copies nothing secret or large into the image", () => {
  const ignored = readFileSync(join(DEPLOY, "../.dockerignore"), "utf8").split("\n");
  expect(ignored).toEqual(expect.arrayContaining([".git", "node_modules", "dist", "tokens.json", ".fieldprobe"]));
  const image = read("Dockerfile");
  expect(image.match(/^FROM /gm)?.length).toBe(2);
  expect(image).toMatch(/^USER node$/m);
  expect(image).toMatch(/^HEALTHCHECK /m);
});
