/** Takes the settings of the events interface from the configuration. */
import { createHash, timingSafeEqual } from "node:crypto";
import { type Config, pathOfBase } from "../../shared/config.js";
import type { RenderSettings } from "../render/term.js";
import type { Configured } from "../store/site-settings.js";

/** Settings of the routes. */
export interface EventsSettings extends Omit<RenderSettings, "prefix"> {
  /** Path under which the routes are mounted; empty or without a slash at its end. */
  readonly prefix: string;
  /** Path of the public address, with which links begin. */
  readonly basePath: string;
  /** Public site, null: what the imported files say. */
  readonly site: string | null;
  readonly fallbackSite: string;
  /** Primary source, null: what the imported files say. */
  readonly source: string | null;
  /** API keys; with none the interface is open. */
  readonly keys: readonly string[];
  /** Requests per minute and address or key; 0: no limit. */
  readonly perMinute: number;
}

/** Settings of the routes, by the configuration. */
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

/** The part of the configuration for imports and extensions; `now` in epoch seconds. */
export function configuredFor(config: Config, now: number): Configured {
  const { zone, site, source } = config.events;
  return { now, zone, site, source, fallbackSite: fallbackSiteOf(config) };
}

/** True when `key` is one of `keys`; the time it takes tells nothing about them. */
export function isKey(keys: readonly string[], key: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const given = digest(key);
  return keys.map((known) => timingSafeEqual(digest(known), given)).includes(true);
}
