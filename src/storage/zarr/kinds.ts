/** Recognises lists of references and HDF5 files by name. */
import { isAddress } from "../../shared/addresses.js";

/** Extensions of HDF5 files, and of zipped stores, whose first bytes show why they are refused. */
const HDF5_NAMES = /\.(h5|hdf5?|he5|vtkhdf|nc4?|zarr\.zip)$/i;

export function isReferences(path: string): boolean {
  return /\.(refs|kerchunk)\.json$/i.test(path);
}

export function hasHdf5Name(path: string): boolean {
  return HDF5_NAMES.test(path);
}

export function isRemoteHdf5(path: string): boolean {
  return isAddress(path) && hasHdf5Name(path);
}
