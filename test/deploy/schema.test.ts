/**
 * Every deployment file has only members that its format knows, with values of their types, and settings the service
 * takes.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as apps from "kubernetes-models/apps/v1";
import * as networking from "kubernetes-models/networking.k8s.io/v1";
import * as policy from "kubernetes-models/policy/v1";
import * as core from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { loadConfig } from "../../src/shared/config.js";
import { scratchFolder } from "../support/scratch.js";

const DEPLOY = fileURLToPath(new URL("../../deploy", import.meta.url));
const read = (path: string) => readFileSync(join(DEPLOY, path), "utf8");

/** A model of the API, made from its published OpenAPI document; `validate` throws what is wrong with `this`. */
interface Model {
  readonly prototype: { validate(): void };
}

const MODELS = {
  v1: core,
  "apps/v1": apps,
  "networking.k8s.io/v1": networking,
  "policy/v1": policy,
} as unknown as Readonly<Record<string, Readonly<Record<string, Model>>>>;

/**
 * The same value, which notes in `unread` the members that nobody has read yet. The published validator reads every
 * member that the API knows and no other.
 */
function noted(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one, i) => noted(one, `${path}[${i}]`, unread));
  const members = Object.entries(value).map(([name, one]) => [name, noted(one, `${path}.${name}`, unread)] as const);
  for (const [name] of members) unread.add(`${path}.${name}`);
  return new Proxy(Object.fromEntries(members), {
    get(target, name) {
      unread.delete(`${path}.${String(name)}`);
      return target[String(name)];
    },
  });
}

/** The problems of an object: that of the published validator, and members that the API does not know. */
function problemsOf(object: { readonly apiVersion: string; readonly kind: string }): readonly string[] {
  const Kind = MODELS[object.apiVersion]?.[object.kind] as Model;
  const unread = new Set<string>();
  try {
    // Its constructor would copy, and so read, all members.
    Kind.prototype.validate.call(noted(object, object.kind, unread));
  } catch (error) {
    return [(error as Error).message];
  }
  return [...unread];
}

/** The pods of a manifest: those of its deployments and stateful sets. */
const podsOf = (path: string) =>
  parseAllDocuments(read(path)).flatMap((document) => document.toJS().spec?.template?.spec ?? []);

const MANIFESTS = [
  "single/kubernetes.yaml",
  ...readdirSync(join(DEPLOY, "kubernetes")).map((name) => `kubernetes/${name}`),
];

describe("Kubernetes objects", () => {
  it.each(MANIFESTS)("%s has only what the API knows", (path) => {
    const documents = parseAllDocuments(read(path));
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) expect(problemsOf(document.toJS())).toEqual([]);
  });

  it.each(MANIFESTS)("%s confines its containers and probes them", (path) => {
    for (const { securityContext, containers } of podsOf(path)) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      for (const one of containers) {
        expect(one.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] },
        });
        expect(one).toMatchObject({
          startupProbe: expect.anything(),
          livenessProbe: expect.anything(),
          readinessProbe: expect.anything(),
        });
      }
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

  it.each([
    ["livenessProbe:", "livenesProbe:", "Deployment.spec.template.spec.containers[0].livenesProbe"],
    ["replicas: 1", "replicas: one", "/spec/replicas must be integer"],
    ["storage: 1Gi", "storage: many", "/spec/resources/requests/storage must"],
    ["type: Recreate", "kind: Recreate", "Deployment.spec.strategy.kind"],
  ])("refuse %s written as %s", (right, wrong, problem) => {
    const documents = parseAllDocuments(read("single/kubernetes.yaml").replace(right, wrong));
    expect(documents.flatMap((document) => problemsOf(document.toJS())).join()).toContain(problem);
  });
});

const text = z.string();
const texts = z.record(text, text);
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
