/** Lists a folder of a web server by the links on its index page. */
import sax from "sax";
import { STORE_BOUNDS } from "../../../shared/store-settings.js";
import type { RemoteObjects } from "./remote-objects.js";
import type { FolderListing } from "./s3-list.js";

/**
 * Lists the links of a page that lead directly into its folder.
 * @param address of the folder, with a slash at its end
 * @returns null without a page or such links
 * @throws DataError when the host refuses, BusyError
 */
export async function listPage(objects: RemoteObjects, address: string): Promise<FolderListing | null> {
  const page = await objects.fetch(address, null, STORE_BOUNDS.pageBytes);
  if (page === null) return null;
  const text = new TextDecoder().decode(page.bytes);
  if (!text.trimStart().startsWith("<")) return null;
  const [found, folders] = [new Set<string>(), new Set<string>()];
  for (const link of linksOf(text)) {
    const name = nameIn(link, new URL(address));
    if (name?.endsWith("/")) folders.add(name.slice(0, -1));
    else if (name !== null) found.add(name);
  }
  if (found.size + folders.size === 0) return null;
  return { objects: [...found].sort().map((name) => ({ name, version: null })), folders: [...folders].sort() };
}

function linksOf(text: string): string[] {
  const links: string[] = [];
  const parser = sax.parser(false, { lowercase: true });
  parser.onopentag = ({ name, attributes }) => {
    if (name === "a" && attributes.href !== undefined) links.push(attributes.href);
  };
  parser.onerror = () => {
    parser.error = null;
    parser.resume();
  };
  parser.write(text).close();
  return links;
}

/** The name that a link has in a folder, with a slash if it is a folder; null if it leads elsewhere. */
function nameIn(link: string, folder: URL): string | null {
  try {
    const { origin, pathname, search } = new URL(link, folder);
    if (origin !== folder.origin || search !== "" || !pathname.startsWith(folder.pathname)) return null;
    const name = decodeURIComponent(pathname.slice(folder.pathname.length));
    return /^[^/]+\/?$/.test(name) ? name : null;
  } catch {
    return null;
  }
}
