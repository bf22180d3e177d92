/** Tells lists of references and HDF5 files by their names. */
import { isAddress } from "../../shared/addresses.js";

/** Endings of the names of HDF5 files, and of ZIP archives of stores, whose first bytes tell why they are refused. */
const HDF5_NAMES = /\.(h5|hdf5?|he5|nc4?|zarr\.zip)$/i;

/** Whether a path or address is that of a list of references. */
export function isReferences(path: string): boolean {
  return /\.(refs|kerchunk)\.json$/i.test(path);
}

/** Whether a name is one that HDF5 files have. */
export function hasHdf5Name(path: string): boolean {
  return HDF5_NAMES.test(path);
}

/** Whether an address is that of an HDF5 file rather than of a store. */
export function isRemoteHdf5(path: string): boolean {
  return isAddress(path) && hasHdf5Name(path);
}
