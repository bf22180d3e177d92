/** Preparation of commands that read data in their own process. */
import { readConfig } from "../../shared/config.js";
import { setDataFolders } from "../../storage/dataset/files.js";
import { loadHdf5 } from "../../storage/hdf5/library.js";
import { StoreClient } from "../../storage/remote/store-client.js";
import { StoreThread } from "../../storage/remote/store-thread.js";
import { MisuseError } from "./arguments.js";

/** Loads the HDF5 library, and applies the settings of stores and data folders. Throws MisuseError if one is wrong. */
export async function openStorage(data?: readonly string[]): Promise<void> {
  const { config, problems } = readConfig();
  const wrong = problems.find((problem) => /^FIELDPROBE_(STORE_|CACHE_DI)/.test(problem));
  if (wrong !== undefined) throw new MisuseError(wrong);
  const thread = new StoreThread(config.stores, (line) => process.stderr.write(`${line}\n`));
  StoreClient.share((connection) => thread.connect(connection));
  setDataFolders(data ?? config.data);
  await loadHdf5();
}
