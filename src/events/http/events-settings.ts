/** Settings of the events interface. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type Config, pathOfBase } from "../../shared/config.js";
import type { RenderSettings } from "../render/term.js";

export interface EventsSettings extends Omit<RenderSettings, "prefix"> {
  readonly prefix: string;
  readonly basePath: string;
  /** Public site; null: what the imported files say. */
  readonly site: string | null;
  readonly fallbackSite: string;
  /** Primary source; null: what the imported files say. */
  readonly source: string | null;
  readonly keys: readonly string[];
  /** 0: no limit. */
  readonly perMinute: number;
}

export function eventsSettings(config: Config): EventsSettings {
  const { prefix, site, source, keys, categoryUrl, perMinute } = config.events;
  const fallbackSite = fallbackSiteOf(config);
  const basePath = pathOfBase(config.baseUrl);
  return { prefix, basePath, site, source, keys, categoryUrl, perMinute, fallbackSite };
}

function fallbackSiteOf(config: Config): string {
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  return config.baseUrl ?? `${config.tls === null ? "http" : "https"}://${host}:${config.port}`;
}

/** What an import needs to know. */
export function configuredFor(config: Config, now: number) {
  const { zone, site, source } = config.events;
  return { now, zone, site, source, fallbackSite: fallbackSiteOf(config) };
}

/** Compares in constant time. */
export function isKey(keys: readonly string[], key: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const given = digest(key);
  return keys.map((known) => timingSafeEqual(digest(known), given)).includes(true);
}
